//! A site and a way back in it for tests: a POST that is asked again at once after an exception, three times in all.
use super::{
    Bound, Cause, DateForm, Exhaustion, FailurePath, Form, Key, Known, Operation, Pace, RetryAfter, Role, Site, Timeout,
};
use crate::analysis::status::StatusSet;
use crate::ir::FuncId;
use crate::source::Span;

pub(crate) fn path() -> FailurePath {
    FailurePath {
        operation: 0,
        cause: Cause::Exception { classes: vec!["ConnectionError".to_owned()], everything: false },
        bound: Bound::Count(Some(3)),
        attempts: Some(3),
        waits: Vec::new(),
        pace: Pace::None,
        jitter: false,
        wait_after_last: None,
        overflow: None,
        wait_span: None,
        blocks_executor: false,
        repaired: false,
        before_send: Vec::new(),
        elapsed: false,
        good_answer: false,
        new_input: false,
        inner: false,
        retry_after: RetryAfter::NotApplicable,
        retry_after_date: DateForm::Fine,
        exhaustion: Exhaustion::Raises,
        steps: Vec::new(),
        shared: false,
        picked: false,
        uncertain: false,
    }
}

pub(crate) fn operation() -> Operation {
    Operation {
        text: "client.post(url)".to_owned(),
        span: Span::new(20, 24),
        model: None,
        remote: Known::Yes,
        method: Some("POST".to_owned()),
        idempotent: Known::No,
        effect: None,
        target: None,
        timeout: Timeout::Set(Some(5.0)),
        key: Key::None,
        passed_in: false,
        likely: false,
        by_setting: false,
    }
}

pub(crate) fn site() -> Site {
    Site {
        function: FuncId(0),
        function_name: "send".to_owned(),
        in_async: false,
        in_test: false,
        form: Form::StraightLine,
        role: Role::Retry,
        span: Span::new(0, 30),
        header: Span::new(0, 11),
        operations: vec![operation()],
        failures: vec![path()],
        exits: Vec::new(),
        retried_statuses: StatusSet::range(500, 599).or(&StatusSet::one(429)),
        bound: Bound::Count(Some(3)),
        max_attempts: Some(3),
        delay_ceiling: None,
        interrupts: None,
        defects: None,
        unreset: None,
        used_up: None,
        batch: None,
        idle: None,
        lost_result: None,
        layers: Vec::new(),
        layered_wait: None,
        multiplied: 0,
        inner: false,
        tasks: None,
        amplification: None,
        links: Vec::new(),
        cut: false,
        helper: None,
        version: None,
    }
}
