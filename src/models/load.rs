//! Reads, checks and resolves model files.

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ModelError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// All models of one language, ready for look-ups.
#[derive(Debug, Default)]
pub struct Models {}
