//! A unified diff, as `git diff` and `diff -u` write it, read for one thing: which lines of the new files are new, and
//! where lines are gone.

/// What a diff says of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// Its new name, as it is written, less the time that `diff` puts behind it.
    pub name: String,
    /// Whether `git` wrote it: names have a folder (`b/`) in front, unless it was told to leave it out.
    pub from_git: bool,
    /// What was changed in it.
    pub lines: Lines,
}

/// Changed lines of a file, which count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// All of them.
    pub all: bool,
    /// Added or rewritten.
    pub added: Vec<usize>,
    /// Where lines are gone.
    pub removed: Vec<Removed>,
}

/// Lines that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// They stood behind this line.
    pub after: usize,
    /// How far the first of them that was not empty was indented.
    pub indent: Option<usize>,
}

impl Lines {
    /// Whether something changed within the lines `first` to `last`. What is gone from behind the last one counts where
    /// it was indented deeper than `margin`: it was the end of what begins there.
    #[must_use]
    pub fn touch(&self, first: usize, last: usize, margin: Option<usize>) -> bool {
        let from = self.added.partition_point(|line| *line < first);
        self.all
            || self.added.get(from).is_some_and(|line| *line <= last)
            || self.removed.iter().any(|gone| {
                let inside = first <= gone.after && gone.after < last;
                let at_end = gone.after == last && margin.zip(gone.indent).is_some_and(|(margin, own)| own > margin);
                inside || at_end
            })
    }
}

/// How far a line is indented, a tab going to the next multiple of 8.
#[must_use]
pub fn indent(line: &str) -> Option<usize> {
    let mut width = 0;
    for c in line.chars() {
        match c {
            ' ' => width += 1,
            '\t' => width = (width / 8 + 1) * 8,
            '\r' | '\n' => return None,
            _ => return Some(width),
        }
    }
    None
}

/// A text that is no unified diff.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDiff {
    /// Nothing in it looks like one.
    #[error("it is no unified diff (`git diff`, `diff -u`): there is no line that begins with `@@`")]
    Nothing,
    /// Of a merge.
    #[error("line {0} begins a combined diff, of a merge; take the difference from one parent (`git diff BASE`)")]
    Combined(usize),
    /// Fewer lines than it says.
    #[error("line {0}: the diff ends within a hunk; a part of it is missing")]
    Cut(usize),
}

/// Reads a diff.
///
/// # Errors
/// It is none, or not one that can be read.
pub fn read(text: &str) -> Result<Vec<Changed>, NoDiff> {
    let mut files: Vec<Changed> = Vec::new();
    let (mut is_diff, mut git) = (text.trim().is_empty(), false);
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with("diff --git ") {
            (is_diff, git) = (true, true);
        } else if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") || line.starts_with("@@@") {
            return Err(NoDiff::Combined(number + 1));
        } else if line.starts_with("Binary files ") || line.starts_with("Only in ") || line.starts_with("diff -") {
            is_diff = true;
        } else if line.starts_with("--- ")
            && let Some(new) = lines.peek().and_then(|(_, next)| next.strip_prefix("+++ "))
        {
            files.push(Changed { name: name(new), from_git: git, lines: Lines::default() });
            lines.next();
            (is_diff, git) = (true, false);
        } else if let Some(hunk) = Hunk::of(line) {
            is_diff = true;
            let mut ignored = Lines::default();
            let into = files.last_mut().map_or(&mut ignored, |file| &mut file.lines);
            hunk.read(number + 1, into, &mut lines)?;
        }
    }
    if !is_diff {
        return Err(NoDiff::Nothing);
    }
    files.retain(|file| file.name != "/dev/null");
    Ok(files)
}

/// A hunk's first line: how many lines of both files follow, and at which new line it begins.
struct Hunk {
    old: usize,
    new: usize,
    next: usize,
}

impl Hunk {
    fn of(line: &str) -> Option<Hunk> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |text: &str| {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        };
        let ((_, old), (start, new)) = (range(old)?, range(new)?);
        // With no new lines, the start is the line behind which others are gone.
        Some(Hunk { old, new, next: if new == 0 { start + 1 } else { start } })
    }

    fn read<'a>(
        mut self,
        number: usize,
        into: &mut Lines,
        lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>,
    ) -> Result<(), NoDiff> {
        while self.old > 0 || self.new > 0 {
            let Some((_, line)) = lines.next() else { return Err(NoDiff::Cut(number)) };
            let rest = line.get(1..).unwrap_or_default();
            match line.as_bytes().first() {
                Some(b'+') => {
                    into.added.push(self.next);
                    self.next += 1;
                    self.new = self.new.saturating_sub(1);
                }
                Some(b'-') => {
                    let after = self.next.saturating_sub(1);
                    let own = indent(rest);
                    match into.removed.last_mut().filter(|last| last.after == after) {
                        Some(last) => last.indent = last.indent.or(own),
                        None => into.removed.push(Removed { after, indent: own }),
                    }
                    self.old = self.old.saturating_sub(1);
                }
                Some(b'\\') => {}
                // Some programs take the blank away that stands before an empty line.
                Some(b' ' | b'\r') | None => {
                    self.next += 1;
                    self.new = self.new.saturating_sub(1);
                    self.old = self.old.saturating_sub(1);
                }
                Some(_) => return Err(NoDiff::Cut(number)),
            }
        }
        Ok(())
    }
}

/// A name as it stands behind `+++ `: quoted if it holds what is hard to read, and a tab behind it if there is a time or
/// a blank.
fn name(text: &str) -> String {
    let text = text.strip_suffix('\r').unwrap_or(text);
    match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => text.split('\t').next().unwrap_or_default().to_owned(),
    }
}

/// What stands between C's quotes.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(digit @ b'0'..=b'7') => {
                    let mut code = u32::from(digit - b'0');
                    for _ in 0..2 {
                        if let Some(digit) = rest.next_if(|byte| matches!(byte, b'0'..=b'7')) {
                            code = code * 8 + u32::from(digit - b'0');
                        }
                    }
                    bytes.push(u8::try_from(code & 0xff).unwrap_or_default());
                }
                Some(letter) => bytes.push(match letter {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    other => other,
                }),
                None => break,
            },
            other => bytes.push(other),
        }
    }
    crate::source::text_of(&bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn diffs_of_git_are_read() {
        let text = "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,4 +1,4 @@ def f():\n a\n\
                    -b\n+c\n d\n--- e\n+++ f\n@@ -9,2 +9,0 @@\n-    g\n-h\ndiff --git a/old.py b/new.py\nrename from old.py\n\
                    rename to new.py\ndiff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let files = read(text).unwrap();
        assert_eq!(files.len(), 1);
        let changed = files.first().unwrap();
        assert_eq!((changed.name.as_str(), changed.from_git), ("b/x.py", true));
        assert_eq!(changed.lines.added, [2, 4]);
        let gone = [(1, Some(0)), (3, Some(0)), (9, Some(4))].map(|(after, indent)| Removed { after, indent });
        assert_eq!(changed.lines.removed, gone);
    }

    #[test]
    fn plain_diffs_are_read() {
        let text = "Only in b: z\r\ndiff -ru a/x y.py b/x y.py\r\n--- a/x y.py\t2026-01-01 10:00:00\r\n+++ b/x y.py\t2026-01-02\r\n\
                    @@ -1 +1,2 @@\r\n a\r\n+\r\n\\ No newline at end of file\r\n";
        let files = read(text).unwrap();
        assert_eq!(files.first().map(|file| (file.name.as_str(), file.from_git)), Some(("b/x y.py", false)));
        assert_eq!(files.first().unwrap().lines.added, [2]);
        assert_eq!(read("\n").unwrap(), []);
        assert_eq!(read("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n").unwrap(), []);
    }

    #[test]
    fn quoted_names_are_read() {
        assert_eq!(name(r#""b/\303\274 \"x\"\t.py""#), "b/ü \"x\"\t.py");
        assert_eq!(name("b/a b.py\t"), "b/a b.py");
    }

    #[test]
    fn what_is_no_diff_is_told() {
        assert_eq!(read("hello\n"), Err(NoDiff::Nothing));
        assert_eq!(read("diff --cc x.py\n@@@ -1,1 -1,1 +1,1 @@@\n"), Err(NoDiff::Combined(1)));
        assert_eq!(read("--- a\n+++ b\n@@ -1,2 +1,2 @@\n x"), Err(NoDiff::Cut(3)));
    }

    #[test]
    fn what_is_gone_from_the_end_belongs_to_what_it_was_indented_under() {
        let lines = Lines {
            added: vec![9],
            removed: vec![Removed { after: 4, indent: Some(8) }, Removed { after: 6, indent: None }],
            ..Lines::default()
        };
        assert!(lines.touch(2, 4, Some(4)) && !lines.touch(2, 4, Some(8)) && !lines.touch(4, 4, None));
        assert!(lines.touch(2, 5, None) && !lines.touch(5, 6, Some(0)) && !lines.touch(5, 5, Some(0)));
        assert!(lines.touch(9, 9, None) && lines.touch(7, 10, None) && !lines.touch(10, 12, None));
        assert!(Lines { all: true, ..Lines::default() }.touch(1, 1, None));
        assert_eq!((indent("\t  x"), indent("   "), indent("x")), (Some(10), None, Some(0)));
    }
}
