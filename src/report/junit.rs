//! JUnit's XML, which most build servers show as test results: a suite a file, a case a finding.
//!
//! A finding that fails the run is a failed test, any other one a skipped test; a file that could not be checked is an
//! error. No times and no identifiers: two runs give the same bytes.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{counted, sentence, sentences, visible};
use crate::check::{ErrorKind, Found, Run};
use crate::diagnostic::Level;
use crate::source::SourceFile;

/// Writes the document. A finding at `fails` or above is a failed test; none is where there is no such level.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, fails: Option<Level>, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("stormlint");
    for of_file in run.findings.chunk_by(|left, right| left.file == right.file) {
        let Some(file) = of_file.first().and_then(|found| run.files.get(found.file)) else { continue };
        let mut suite = TestSuite::new(&*visible::line(&file.path));
        suite.add_test_cases(of_file.iter().map(|found| case(run, file, found, fails)));
        report.add_test_suite(suite);
    }
    if !run.errors.is_empty() {
        let mut suite = TestSuite::new("files that could not be checked");
        suite.add_test_cases(run.errors.iter().map(|error| {
            let path = visible::line(&error.path);
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            let kind = if error.kind == ErrorKind::InternalError { "internal-error" } else { "not-checked" };
            status.set_type(kind).set_message(visible::line(&error.message));
            let mut case = TestCase::new(&*path, status);
            case.set_classname("stormlint");
            case
        }));
        report.add_test_suite(suite);
    }
    if report.test_suites.is_empty() {
        let mut case = TestCase::new("no findings", TestCaseStatus::success());
        case.set_classname("stormlint").set_system_out(counted(run.files.len(), "file"));
        let mut suite = TestSuite::new("stormlint");
        suite.add_test_case(case);
        report.add_test_suite(suite);
    }
    report.serialize(out).map_err(io::Error::other)
}

fn case(run: &Run, file: &SourceFile, found: &Found, fails: Option<Level>) -> TestCase {
    let diagnostic = &found.diagnostic;
    let place = file.position(diagnostic.span.start);
    let mut status = if fails.is_some_and(|fails| diagnostic.level >= fails) {
        TestCaseStatus::non_success(NonSuccessKind::Failure)
    } else {
        TestCaseStatus::skipped()
    };
    let message = sentence(&diagnostic.message);
    let mut text = vec![format!("{}:{}:{}", visible::line(&file.path), place.line, place.column)];
    text.push(visible::line(&sentences(diagnostic)).into_owned());
    for (number, label) in diagnostic.labels.iter().enumerate() {
        let Some(file) = run.files.get(label.file.unwrap_or(found.file)) else { continue };
        let line = file.line_of(label.span.start);
        let (path, step) = (visible::line(&file.path), visible::line(&label.text));
        text.push(format!("{}. {path}:{line}: {step}", number + 1));
    }
    status.set_type(diagnostic.level.name()).set_message(visible::line(&message)).set_description(text.join("\n"));
    let mut case = TestCase::new(format!("{} ({}:{})", diagnostic.rule, place.line, place.column), status);
    case.set_classname(visible::line(&file.path));
    case.extra.insert("file".into(), visible::line(&file.path).as_ref().into());
    case.extra.insert("line".into(), place.line.to_string().into());
    case
}
