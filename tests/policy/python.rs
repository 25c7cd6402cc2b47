//! Programs as Python text.

use crate::condition::{Cmp, Needs};
use crate::program::{Advice, Bound, Exit, Failure, Jitter, Number, Place, Program, Sort, Statuses, Wait};

/// Lines with their depth.
#[derive(Default)]
pub struct Text(pub String);

impl Text {
    pub fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        self.0.push_str(&"    ".repeat(depth));
        self.0.push_str(text.as_ref());
        self.0.push('\n');
    }
}

/// Milliseconds, as seconds.
pub fn seconds(milliseconds: u32) -> String {
    (f64::from(milliseconds) / 1000.0).to_string()
}

/// The program's text; `fetch(url)` is where it begins.
pub fn text(program: &Program) -> String {
    let mut needs = Needs::default();
    let mut body = Text::default();
    Writer { program, out: &mut body, needs: &mut needs }.function();
    let mut out = Text::default();
    out.line(0, "import random\nimport time\nfrom datetime import datetime, timezone");
    out.line(0, "from email.utils import parsedate_to_datetime\nfrom http import HTTPStatus\n\nimport requests\n");
    if program.number == Number::Constant {
        out.line(0, format!("ATTEMPTS = {}", program.attempts));
    }
    if let Wait::Listed(list) = &program.wait {
        let list: Vec<String> = list.iter().map(|wait| seconds(*wait)).collect();
        out.line(0, format!("DELAYS = [{}]", list.join(", ")));
    }
    if program.advice == Advice::Dated {
        out.line(0, "\n\ndef seconds_of(value):\n    try:\n        return float(value)\n    except ValueError:");
        out.line(
            2,
            "when = parsedate_to_datetime(value)\n        return (when - datetime.now(timezone.utc)).total_seconds()",
        );
    }
    if program.generated {
        out.line(
            0,
            "\n\ndef turns(number):\n    turn = 0\n    while turn < number:\n        yield turn\n        turn += 1",
        );
        out.line(0, "\n\ndef growing(wait, factor, ceiling):\n    while True:\n        yield wait");
        out.line(2, "wait = wait * factor if ceiling is None else min(wait * factor, ceiling)");
    }
    for item in &needs.items {
        out.line(0, format!("\n\n{item}"));
    }
    out.line(0, format!("\n\n{}", body.0));
    out.0
}

struct Writer<'a> {
    program: &'a Program,
    out: &'a mut Text,
    needs: &'a mut Needs,
}

impl Writer<'_> {
    fn number(&self) -> String {
        match self.program.number {
            Number::Literal => self.program.attempts.to_string(),
            Number::Constant => "ATTEMPTS".to_owned(),
            Number::Default => "attempts".to_owned(),
        }
    }

    fn request(&self) -> String {
        let timeout = self.program.timeout.map_or_else(String::new, |timeout| format!(", timeout={timeout}"));
        format!("requests.{}(url{timeout})", self.program.method)
    }

    fn caught(&self, sort: Sort) -> &'static str {
        match sort {
            Sort::Connect => "requests.ConnectionError",
            Sort::Timeout => "requests.exceptions.Timeout",
            Sort::Both => "(requests.ConnectionError, requests.Timeout)",
            Sort::Library => "requests.RequestException",
            Sort::Everything => "Exception",
        }
    }

    fn delays(&self) -> String {
        let most =
            if self.program.bound == Bound::Delays(true) { self.program.attempts - 1 } else { self.program.attempts };
        let mut delays: Vec<String> = (0..most).map(|at| (1_u32 << at).to_string()).collect();
        if self.program.bound == Bound::Delays(true) {
            delays.push("None".to_owned());
        }
        format!("({},)", delays.join(", "))
    }

    /// Whether no further attempt follows, where the place knows it.
    fn is_last(&self) -> Option<String> {
        let number = self.number();
        match self.program.bound {
            Bound::Range => Some(format!("attempt == {number} - 1")),
            Bound::FromOne => Some(format!("attempt == {number}")),
            Bound::While(_) => Some(format!("attempt >= {number}")),
            Bound::Counted(Cmp::Gt) => Some(format!("attempt > {number}")),
            Bound::Counted(Cmp::Eq) => Some(format!("attempt == {number}")),
            Bound::Counted(_) => Some(format!("attempt >= {number}")),
            Bound::Deadline(..) => Some("time.monotonic() > deadline".to_owned()),
            Bound::Delays(true) => Some("delay is None".to_owned()),
            Bound::Recursion => Some(format!("attempt >= {number} - 1")),
            Bound::Delays(false) | Bound::Endless => None,
        }
    }

    /// The wait as an expression.
    fn pause(&self) -> Option<String> {
        let wait = match &self.program.wait {
            Wait::None => match self.program.bound {
                Bound::Delays(_) => "delay".to_owned(),
                _ => return None,
            },
            Wait::Fixed(base) => seconds(*base),
            Wait::Linear(base) => format!("{} * (attempt + 1)", seconds(*base)),
            Wait::Power(base, 0) => format!("{} * 2 ** attempt", seconds(*base)),
            Wait::Power(base, 1) => format!("{} * (1 << attempt)", seconds(*base)),
            Wait::Power(base, 2) => format!("2 ** attempt * {}", seconds(*base)),
            Wait::Power(base, _) => format!("{} * pow(2, attempt)", seconds(*base)),
            Wait::Growing(..) if self.program.generated => "next(delays)".to_owned(),
            Wait::Growing(..) => "delay".to_owned(),
            Wait::Listed(_) => "DELAYS[attempt]".to_owned(),
        };
        let grows = matches!(self.program.wait, Wait::Growing(..));
        let wait = match self.program.ceiling.filter(|_| !grows) {
            Some(ceiling) => format!("min({wait}, {})", seconds(ceiling)),
            None => wait,
        };
        Some(match self.program.jitter {
            Jitter::None => wait,
            Jitter::Added(most) => format!("{wait} + random.uniform(0, {})", seconds(most)),
            Jitter::Scaled => format!("({wait}) * random.uniform(0.5, 1.5)"),
            Jitter::Full => format!("random.uniform(0, {wait})"),
        })
    }

    fn function(&mut self) {
        let default = match self.program.number {
            Number::Default => format!(", attempts={}", self.program.attempts),
            _ => String::new(),
        };
        if let Failure::Helper(nothing) = self.program.failure {
            self.helper(nothing);
        }
        if self.program.bound == Bound::Recursion {
            self.out.line(0, "def fetch(url, attempt=0):");
            self.turn(1);
            return;
        }
        self.out.line(0, format!("def fetch(url{default}):"));
        match self.program.wait {
            Wait::Growing(base, factor) if self.program.generated => {
                let ceiling = self.program.ceiling.map_or_else(|| "None".to_owned(), seconds);
                self.out.line(1, format!("delays = growing({}, {factor}, {ceiling})", seconds(base)));
            }
            Wait::Growing(base, _) => self.out.line(1, format!("delay = {}", seconds(base))),
            _ => {}
        }
        let number = self.number();
        let header = match self.program.bound {
            Bound::Range if self.program.generated => format!("for attempt in turns({number}):"),
            Bound::Range => format!("for attempt in range({number}):"),
            Bound::FromOne => format!("for attempt in range(1, {number} + 1):"),
            Bound::While(_) => {
                self.out.line(1, "attempt = 0");
                format!("while attempt < {number}:")
            }
            Bound::Counted(_) => {
                self.out.line(1, "attempt = 0");
                "while True:".to_owned()
            }
            Bound::Deadline(limit, inside) => {
                self.out.line(1, format!("deadline = time.monotonic() + {limit}"));
                if inside { "while True:" } else { "while time.monotonic() < deadline:" }.to_owned()
            }
            Bound::Delays(_) => format!("for delay in {}:", self.delays()),
            Bound::Endless | Bound::Recursion => "while True:".to_owned(),
        };
        self.out.line(1, header);
        if self.program.bound == Bound::While(true) {
            self.out.line(2, "attempt += 1");
        }
        if self.program.place == Place::Top
            && let Some(pause) = self.pause()
        {
            let first = if self.program.bound == Bound::Range { 0 } else { 1 };
            self.out.line(2, format!("if attempt > {first}:"));
            self.out.line(3, format!("time.sleep({pause})"));
        }
        self.turn(2);
        if !self.program.gives_up_inside || self.program.exit == Exit::BreakRaise {
            self.leave(1, false);
        }
    }

    /// The failure value of a helper, and what it gives else.
    fn helper(&mut self, nothing: bool) {
        let (bad, good) = if nothing { ("None", "response.json()") } else { ("False", "True") };
        self.out.line(0, "def ask(url):\n    try:");
        self.out.line(2, format!("response = {}", self.request()));
        self.out.line(1, format!("except requests.RequestException:\n        return {bad}"));
        let tested = match &self.program.statuses {
            Statuses::RetryIf(cond) => cond.python(self.needs),
            Statuses::GoodIf(cond) | Statuses::GoodOrFatal(cond, _) => format!("not ({})", cond.python(self.needs)),
        };
        self.out.line(1, format!("if {tested}:\n        return {bad}\n    return {good}\n\n"));
    }

    /// One attempt and what follows it.
    fn turn(&mut self, depth: usize) {
        let tail = self.program.place == Place::Tail;
        match self.program.failure {
            Failure::Helper(true) => {
                self.out.line(depth, "result = ask(url)\n");
                self.out.line(depth, "if result is not None:");
                self.out.line(depth + 1, "return result");
                self.fail(depth, false, false);
            }
            Failure::Helper(false) => {
                self.out.line(depth, "if ask(url):");
                self.out.line(depth + 1, "return True");
                self.fail(depth, false, false);
            }
            Failure::Status => {
                self.out.line(depth, format!("response = {}", self.request()));
                self.judge(depth, tail);
                if tail {
                    self.fail(depth, false, false);
                }
            }
            Failure::Raised(sort) => {
                self.out.line(depth, "try:");
                self.out.line(depth + 1, format!("response = {}", self.request()));
                self.out.line(depth + 1, "response.raise_for_status()");
                self.out.line(depth + 1, "return response.json()");
                self.handler(depth, sort, tail);
            }
            Failure::Caught(sort) => {
                self.out.line(depth, "try:");
                self.out.line(depth + 1, format!("response = {}", self.request()));
                let first = self.out.0.len();
                self.handler(depth, sort, tail);
                if !tail {
                    self.judge(depth, false);
                    return;
                }
                // The answer is judged before the common end of the turn.
                let end = self.out.0.split_off(first);
                let (handler, rest) = end.split_once("pass\n").unwrap_or((&end, ""));
                self.out.0.push_str(handler);
                self.out.0.push_str("pass\n");
                self.out.line(depth, "else:");
                self.judge(depth + 1, true);
                self.out.0.push_str(rest);
            }
        }
    }

    fn handler(&mut self, depth: usize, sort: Sort, tail: bool) {
        self.out.line(depth, format!("except {} as error:", self.caught(sort)));
        if tail {
            self.out.line(depth + 1, "pass");
            self.fail(depth, false, false);
        } else {
            self.fail(depth + 1, false, true);
        }
    }

    /// What becomes of an answer; where all failures share the end of a turn, those go by.
    fn judge(&mut self, depth: usize, tail: bool) {
        match &self.program.statuses {
            Statuses::RetryIf(cond) if tail => {
                let cond = cond.python(self.needs);
                self.out.line(depth, format!("if not ({cond}):"));
                self.out.line(depth + 1, "return response.json()");
            }
            Statuses::RetryIf(cond) => {
                let cond = cond.python(self.needs);
                self.out.line(depth, format!("if {cond}:"));
                self.fail(depth + 1, true, false);
                self.out.line(depth, "return response.json()");
            }
            Statuses::GoodIf(good) | Statuses::GoodOrFatal(good, _) => {
                let good = good.python(self.needs);
                self.out.line(depth, format!("if {good}:"));
                self.out.line(depth + 1, "return response.json()");
                if let Statuses::GoodOrFatal(_, fatal) = &self.program.statuses {
                    let fatal = fatal.python(self.needs);
                    self.out.line(depth, format!("if {fatal}:"));
                    self.out.line(depth + 1, "raise RuntimeError(\"refused\")");
                }
                if !tail {
                    self.fail(depth, true, false);
                }
            }
        }
    }

    /// The failure path.
    fn fail(&mut self, depth: usize, response: bool, caught: bool) {
        let program = self.program;
        if matches!(program.bound, Bound::Counted(_) | Bound::While(false)) {
            self.out.line(depth, "attempt += 1");
        }
        if program.gives_up_inside
            && let Some(last) = self.is_last()
        {
            self.out.line(depth, format!("if {last}:"));
            if program.exit == Exit::BreakRaise || program.exit == Exit::Falls {
                let leaves = if program.bound == Bound::Recursion { "return" } else { "break" };
                self.out.line(depth + 1, leaves);
            } else {
                self.leave(depth + 1, caught);
            }
        }
        let pause = self.pause().filter(|_| program.place != Place::Top);
        let mut inner = depth;
        if let Some(pause) = pause {
            if program.skip_last
                && !program.gives_up_inside
                && let Some(last) = self.is_last()
            {
                self.out.line(depth, format!("if not ({last}):"));
                inner = depth + 1;
            }
            self.wait(inner, &pause, response);
        } else if response && program.advice != Advice::Ignored {
            self.wait(depth, "0", true);
        }
        if let Wait::Growing(_, factor) = program.wait
            && !program.generated
        {
            match program.ceiling {
                Some(ceiling) => self.out.line(inner, format!("delay = min(delay * {factor}, {})", seconds(ceiling))),
                None => self.out.line(inner, format!("delay *= {factor}")),
            }
        }
        match program.bound {
            Bound::Recursion => self.out.line(depth, "return fetch(url, attempt + 1)"),
            _ => self.out.line(depth, "continue"),
        }
    }

    fn wait(&mut self, depth: usize, pause: &str, response: bool) {
        let advice = self.program.advice;
        if !response || advice == Advice::Ignored {
            self.out.line(depth, format!("time.sleep({pause})"));
            return;
        }
        self.out.line(depth, format!("pause = {pause}"));
        self.out.line(depth, "advice = response.headers.get(\"Retry-After\")");
        let (test, value) = match advice {
            Advice::Guarded => ("advice and advice.isdigit()", "int(advice)".to_owned()),
            Advice::Max => ("advice", "max(pause, float(advice))".to_owned()),
            Advice::Min(most) => ("advice is not None", format!("min(float(advice), {most})")),
            Advice::Dated => ("advice", "seconds_of(advice)".to_owned()),
            Advice::Slept | Advice::Ignored => ("advice", "float(advice)".to_owned()),
        };
        self.out.line(depth, format!("if {test}:"));
        self.out.line(depth + 1, format!("pause = {value}"));
        self.out.line(depth, "time.sleep(pause)");
    }

    /// What leaves in the end.
    fn leave(&mut self, depth: usize, caught: bool) {
        match self.program.exit {
            Exit::Raise if caught => self.out.line(depth, "raise"),
            Exit::Raise | Exit::BreakRaise => self.out.line(depth, "raise RuntimeError(\"gave up\")"),
            Exit::Nothing => self.out.line(depth, "return None"),
            Exit::False => self.out.line(depth, "return False"),
            Exit::Empty => self.out.line(depth, "return {}"),
            Exit::Falls => {}
        }
    }
}
