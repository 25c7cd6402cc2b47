//! Programs as Rust text.

use crate::condition::{Cmp, Needs};
use crate::program::{Advice, Bound, Exit, Failure, Jitter, Number, Place, Program, Sort, Statuses, Wait};
use crate::python::{Text, seconds};

/// The program's text; `start(client, url)` is where it begins.
pub fn text(program: &Program) -> String {
    let mut needs = Needs::default();
    let mut body = Text::default();
    Writer { program, out: &mut body, needs: &mut needs }.function();
    let mut out = Text::default();
    out.line(0, "use std::time::{Duration, Instant, SystemTime};\n\nuse rand::Rng;\n");
    if program.number != Number::Literal {
        out.line(0, format!("const ATTEMPTS: u32 = {};", program.attempts));
    }
    if let Wait::Listed(list) = &program.wait {
        let (list, length) = (list.iter().map(u32::to_string).collect::<Vec<_>>().join(", "), list.len());
        out.line(0, format!("const DELAYS: [u64; {length}] = [{list}];"));
    }
    if program.advice == Advice::Dated {
        out.line(0, "\nfn seconds_of(value: &str) -> Option<Duration> {");
        out.line(1, "if let Ok(seconds) = value.parse::<u64>() {");
        out.line(2, "return Some(Duration::from_secs(seconds));");
        out.line(1, "}");
        out.line(1, "let when = httpdate::parse_http_date(value).ok()?;");
        out.line(1, "when.duration_since(SystemTime::now()).ok()\n}");
    }
    for item in &needs.items {
        out.line(0, format!("\n{item}"));
    }
    out.line(0, format!("\n{}", body.0));
    out.0
}

fn duration(milliseconds: u32) -> String {
    match milliseconds % 1000 {
        0 => format!("Duration::from_secs({})", milliseconds / 1000),
        _ => format!("Duration::from_millis({milliseconds})"),
    }
}

struct Writer<'a> {
    program: &'a Program,
    out: &'a mut Text,
    needs: &'a mut Needs,
}

impl Writer<'_> {
    fn number(&self) -> String {
        if self.program.number == Number::Literal { self.program.attempts.to_string() } else { "ATTEMPTS".to_owned() }
    }

    fn client(&self) -> &'static str {
        if self.program.is_async { "client: &reqwest::Client" } else { "client: &reqwest::blocking::Client" }
    }

    fn function_word(&self) -> &'static str {
        if self.program.is_async { "async fn" } else { "fn" }
    }

    fn awaited(&self) -> &'static str {
        if self.program.is_async { ".await" } else { "" }
    }

    fn request(&self) -> String {
        let limit =
            self.program.timeout.map_or_else(String::new, |limit| format!(".timeout(Duration::from_secs({limit}))"));
        format!("client.{}(url){limit}.send(){}", self.program.method, self.awaited())
    }

    fn returns(&self) -> &'static str {
        match self.program.exit {
            Exit::Raise | Exit::BreakRaise | Exit::Empty => " -> Result<String, Box<dyn std::error::Error>>",
            Exit::Nothing => " -> Option<String>",
            Exit::False => " -> bool",
            Exit::Falls => "",
        }
    }

    /// What a success gives.
    fn good(&self) -> String {
        let text = format!("response.text(){}.unwrap_or_default()", self.awaited());
        self.given(&text)
    }

    fn given(&self, text: &str) -> String {
        match self.program.exit {
            Exit::Raise | Exit::BreakRaise | Exit::Empty => format!("return Ok({text});"),
            Exit::Nothing => format!("return Some({text});"),
            Exit::False => "return true;".to_owned(),
            Exit::Falls => "return;".to_owned(),
        }
    }

    /// What a failure gives that is not repeated.
    fn refused(&self, error: &str) -> String {
        match self.program.exit {
            Exit::Raise | Exit::BreakRaise | Exit::Empty => format!("return Err({error}.into());"),
            Exit::Nothing => "return None;".to_owned(),
            Exit::False => "return false;".to_owned(),
            Exit::Falls => "panic!(\"refused\");".to_owned(),
        }
    }

    /// What leaves in the end.
    fn leave(&self, error: Option<&str>) -> String {
        match (self.program.exit, error) {
            (Exit::Raise, Some(error)) => format!("return Err({error}.into());"),
            (Exit::Raise | Exit::BreakRaise, _) => "return Err(\"gave up\".into());".to_owned(),
            (Exit::Nothing, _) => "return None;".to_owned(),
            (Exit::False, _) => "return false;".to_owned(),
            (Exit::Falls, _) => "return;".to_owned(),
            (Exit::Empty, _) => "return Ok(String::new());".to_owned(),
        }
    }

    fn is_last(&self) -> Option<String> {
        let number = self.number();
        match self.program.bound {
            Bound::Range => Some(format!("attempt + 1 == {number}")),
            Bound::FromOne => Some(format!("attempt == {number}")),
            Bound::While(_) => Some(format!("attempt >= {number}")),
            Bound::Counted(Cmp::Gt) => Some(format!("attempt > {number}")),
            Bound::Counted(Cmp::Eq) => Some(format!("attempt == {number}")),
            Bound::Counted(_) => Some(format!("attempt >= {number}")),
            Bound::Deadline(..) => Some("Instant::now() > deadline".to_owned()),
            Bound::Recursion => Some(format!("attempt + 1 >= {number}")),
            Bound::Delays(_) | Bound::Endless => None,
        }
    }

    fn pause(&self) -> Option<String> {
        let wait = match &self.program.wait {
            Wait::None => match self.program.bound {
                Bound::Delays(_) => "Duration::from_secs(delay)".to_owned(),
                _ => return None,
            },
            Wait::Fixed(base) => duration(*base),
            Wait::Linear(base) => format!("Duration::from_millis({base} * u64::from(attempt + 1))"),
            Wait::Power(base, 0) => format!("Duration::from_millis({base} * 2u64.pow(attempt))"),
            Wait::Power(base, 1) => format!("Duration::from_millis({base} << attempt)"),
            Wait::Power(base, 2) => format!("{} * 2u32.pow(attempt)", duration(*base)),
            Wait::Power(base, _) => format!("Duration::from_secs_f64({} * 2f64.powi(attempt as i32))", seconds(*base)),
            Wait::Growing(..) => "delay".to_owned(),
            Wait::Listed(_) => "Duration::from_millis(DELAYS[attempt as usize])".to_owned(),
        };
        let grows = matches!(self.program.wait, Wait::Growing(..));
        let wait = match self.program.ceiling.filter(|_| !grows) {
            Some(ceiling) if self.program.attempts.is_multiple_of(2) => format!("({wait}).min({})", duration(ceiling)),
            Some(ceiling) => format!("std::cmp::min({wait}, {})", duration(ceiling)),
            None => wait,
        };
        Some(match self.program.jitter {
            Jitter::None => wait,
            Jitter::Added(most) => format!("{wait} + Duration::from_millis(rand::thread_rng().gen_range(0..={most}))"),
            Jitter::Scaled => format!("({wait}).mul_f64(rand::thread_rng().gen_range(0.5..1.5))"),
            Jitter::Full => format!("({wait}).mul_f64(rand::random::<f64>())"),
        })
    }

    fn function(&mut self) {
        let (word, client, returns) = (self.function_word(), self.client(), self.returns());
        if let Failure::Helper(nothing) = self.program.failure {
            self.helper(nothing);
        }
        let recursive = self.program.bound == Bound::Recursion;
        let (more, first) = if recursive { (", attempt: u32", ", 0") } else { ("", "") };
        let awaited = self.awaited();
        self.out.line(0, format!("pub {word} start({client}, url: &str){returns} {{"));
        self.out.line(1, format!("fetch(client, url{first}){awaited}\n}}\n"));
        self.out.line(0, format!("{word} fetch({client}, url: &str{more}){returns} {{"));
        if recursive {
            self.turn(1);
            self.out.line(0, "}");
            return;
        }
        if let Wait::Growing(base, _) = self.program.wait {
            self.out.line(1, format!("let mut delay = {};", duration(base)));
        }
        let number = self.number();
        let mut endless = false;
        let header = match self.program.bound {
            Bound::Range => format!("for attempt in 0..{number}"),
            Bound::FromOne => format!("for attempt in 1..={number}"),
            Bound::While(_) => {
                self.out.line(1, "let mut attempt: u32 = 0;");
                format!("while attempt < {number}")
            }
            Bound::Counted(_) => {
                self.out.line(1, "let mut attempt: u32 = 0;");
                endless = true;
                "loop".to_owned()
            }
            Bound::Deadline(limit, inside) => {
                self.out.line(1, format!("let deadline = Instant::now() + Duration::from_secs({limit});"));
                endless = inside;
                if inside { "loop" } else { "while Instant::now() < deadline" }.to_owned()
            }
            Bound::Delays(sentinel) => {
                let most = self.program.attempts - u32::from(sentinel);
                let mut delays: Vec<String> = (0..most).map(|at| (1_u32 << at).to_string()).collect();
                if sentinel {
                    delays = delays.into_iter().map(|delay| format!("Some({delay})")).collect();
                    delays.push("None".to_owned());
                }
                format!("for delay in [{}]", delays.join(", "))
            }
            Bound::Endless | Bound::Recursion => {
                endless = true;
                "loop".to_owned()
            }
        };
        self.out.line(1, format!("{header} {{"));
        if self.program.bound == Bound::While(true) {
            self.out.line(2, "attempt += 1;");
        }
        if self.program.place == Place::Top
            && let Some(pause) = self.pause()
        {
            let first = if self.program.bound == Bound::Range { 0 } else { 1 };
            self.out.line(2, format!("if attempt > {first} {{"));
            self.sleep(3, &pause);
            self.out.line(2, "}");
        }
        self.turn(2);
        self.out.line(1, "}");
        if self.program.exit == Exit::BreakRaise || !self.program.gives_up_inside && !endless {
            self.out.line(1, self.leave(None));
        } else if !endless {
            self.out.line(1, "unreachable!()");
        }
        self.out.line(0, "}");
    }

    fn helper(&mut self, nothing: bool) {
        let (word, client, request, awaited) = (self.function_word(), self.client(), self.request(), self.awaited());
        let tested = match &self.program.statuses {
            Statuses::RetryIf(cond) => cond.rust(self.needs),
            Statuses::GoodIf(cond) | Statuses::GoodOrFatal(cond, _) => format!("!({})", cond.rust(self.needs)),
        };
        if nothing {
            self.out.line(0, format!("{word} ask({client}, url: &str) -> Option<String> {{"));
            self.out.line(1, format!("let response = {request}.ok()?;"));
        } else {
            self.out.line(0, format!("{word} ask({client}, url: &str) -> bool {{"));
            self.out.line(1, format!("let Ok(response) = {request} else {{ return false }};"));
        }
        let bad = if nothing { "None" } else { "false" };
        self.out.line(1, format!("let status = response.status();\n    if {tested} {{"));
        self.out.line(2, format!("return {bad};\n    }}"));
        let good = if nothing { format!("response.text(){awaited}.ok()") } else { "true".to_owned() };
        self.out.line(1, format!("{good}\n}}\n"));
    }

    fn turn(&mut self, depth: usize) {
        let tail = self.program.place == Place::Tail;
        match self.program.failure {
            Failure::Helper(true) => {
                let (awaited, given) = (self.awaited(), self.given("result"));
                self.out.line(depth, format!("if let Some(result) = ask(client, url){awaited} {{"));
                self.out.line(depth + 1, given);
                self.out.line(depth, "}");
                self.fail(depth, false, None);
            }
            Failure::Helper(false) => {
                let (awaited, given) = (self.awaited(), self.given("\"done\".to_string()"));
                self.out.line(depth, format!("if ask(client, url){awaited} {{"));
                self.out.line(depth + 1, given);
                self.out.line(depth, "}");
                self.fail(depth, false, None);
            }
            Failure::Status => {
                self.out.line(depth, format!("let response = match {} {{", self.request()));
                self.out.line(depth + 1, "Ok(response) => response,");
                self.out.line(depth + 1, format!("Err(error) => {{ {} }}", self.refused("error")));
                self.out.line(depth, "};");
                self.judge(depth, tail);
                if tail {
                    self.fail(depth, false, None);
                }
            }
            Failure::Raised(_) => {
                let checked = format!("{}.and_then(|response| response.error_for_status())", self.request());
                self.out.line(depth, format!("match {checked} {{"));
                self.out.line(depth + 1, format!("Ok(response) => {{ {} }}", self.good()));
                self.handler(depth + 1, None, tail);
                self.out.line(depth, "}");
                if tail {
                    self.fail(depth, false, None);
                }
            }
            Failure::Caught(sort) => {
                self.out.line(depth, format!("match {} {{", self.request()));
                self.out.line(depth + 1, "Ok(response) => {");
                self.judge(depth + 2, tail);
                self.out.line(depth + 1, "}");
                let guard = match sort {
                    Sort::Connect => Some("error.is_connect()"),
                    Sort::Timeout => Some("error.is_timeout()"),
                    Sort::Both => Some("error.is_timeout() || error.is_connect()"),
                    Sort::Library | Sort::Everything => None,
                };
                self.handler(depth + 1, guard, tail);
                if guard.is_some() {
                    self.out.line(depth + 1, format!("Err(error) => {{ {} }}", self.refused("error")));
                }
                self.out.line(depth, "}");
                if tail {
                    self.fail(depth, false, None);
                }
            }
        }
    }

    fn handler(&mut self, depth: usize, guard: Option<&str>, tail: bool) {
        let guard = guard.map_or_else(String::new, |guard| format!(" if {guard}"));
        self.out.line(depth, format!("Err(error){guard} => {{"));
        if !tail {
            self.fail(depth + 1, false, Some("error"));
        }
        self.out.line(depth, "}");
    }

    fn judge(&mut self, depth: usize, tail: bool) {
        let good = self.good();
        self.out.line(depth, "let status = response.status();");
        match &self.program.statuses {
            Statuses::RetryIf(cond) => {
                let cond = cond.rust(self.needs);
                if tail {
                    self.out.line(depth, format!("if !({cond}) {{"));
                    self.out.line(depth + 1, good);
                    self.out.line(depth, "}");
                } else {
                    self.out.line(depth, format!("if {cond} {{"));
                    self.fail(depth + 1, true, None);
                    self.out.line(depth, "}");
                    self.out.line(depth, good);
                }
            }
            Statuses::GoodIf(cond) | Statuses::GoodOrFatal(cond, _) => {
                let cond = cond.rust(self.needs);
                self.out.line(depth, format!("if {cond} {{"));
                self.out.line(depth + 1, good);
                self.out.line(depth, "}");
                if let Statuses::GoodOrFatal(_, fatal) = &self.program.statuses {
                    let fatal = fatal.rust(self.needs);
                    self.out.line(depth, format!("if {fatal} {{"));
                    self.out.line(depth + 1, self.refused("\"refused\""));
                    self.out.line(depth, "}");
                }
                if !tail {
                    self.fail(depth, true, None);
                }
            }
        }
    }

    fn sleep(&mut self, depth: usize, pause: &str) {
        let line = match self.program.is_async {
            true => format!("tokio::time::sleep({pause}).await;"),
            false => format!("std::thread::sleep({pause});"),
        };
        self.out.line(depth, line);
    }

    fn fail(&mut self, depth: usize, response: bool, error: Option<&str>) {
        let program = self.program;
        if matches!(program.bound, Bound::Counted(_) | Bound::While(false)) {
            self.out.line(depth, "attempt += 1;");
        }
        let leaves = match program.exit {
            Exit::BreakRaise => "break;".to_owned(),
            _ => self.leave(error),
        };
        if program.bound == Bound::Delays(true) {
            self.out.line(depth, format!("let Some(delay) = delay else {{ {leaves} }};"));
        } else if program.gives_up_inside
            && let Some(last) = self.is_last()
        {
            self.out.line(depth, format!("if {last} {{"));
            self.out.line(depth + 1, leaves);
            self.out.line(depth, "}");
        }
        let pause = self.pause().filter(|_| program.place != Place::Top);
        let mut inner = depth;
        if let Some(pause) = pause {
            let guard = self.is_last().filter(|_| program.skip_last && !program.gives_up_inside);
            if let Some(last) = &guard {
                self.out.line(depth, format!("if !({last}) {{"));
                inner = depth + 1;
            }
            self.wait(inner, &pause, response);
            self.grow(inner);
            if guard.is_some() {
                self.out.line(depth, "}");
            }
        } else {
            if response && program.advice != Advice::Ignored {
                self.wait(depth, "Duration::ZERO", true);
            }
            self.grow(depth);
        }
        match program.bound {
            Bound::Recursion => {
                let boxed = if program.is_async {
                    "Box::pin(fetch(client, url, attempt + 1)).await"
                } else {
                    "fetch(client, url, attempt + 1)"
                };
                self.out.line(depth, format!("return {boxed};"));
            }
            _ => self.out.line(depth, "continue;"),
        }
    }

    fn grow(&mut self, depth: usize) {
        if let Wait::Growing(_, factor) = self.program.wait {
            match self.program.ceiling {
                Some(ceiling) => {
                    self.out.line(depth, format!("delay = (delay * {factor}).min({});", duration(ceiling)))
                }
                None => self.out.line(depth, format!("delay *= {factor};")),
            }
        }
    }

    fn wait(&mut self, depth: usize, pause: &str, response: bool) {
        let advice = self.program.advice;
        if !response || advice == Advice::Ignored {
            self.sleep(depth, pause);
            return;
        }
        self.out.line(depth, format!("let mut pause = {pause};"));
        let text = "let advice = response.headers().get(\"retry-after\").and_then(|value| value.to_str().ok())";
        if advice == Advice::Dated {
            self.out.line(depth, format!("{text};"));
            self.out.line(depth, "if let Some(wanted) = advice.and_then(seconds_of) {");
        } else {
            self.out.line(depth, format!("{text}.and_then(|value| value.parse::<u64>().ok());"));
            self.out.line(depth, "if let Some(seconds) = advice {");
        }
        let value = match advice {
            Advice::Max => "pause.max(Duration::from_secs(seconds))".to_owned(),
            Advice::Min(most) => format!("Duration::from_secs(seconds.min({most}))"),
            Advice::Dated => "wanted".to_owned(),
            Advice::Guarded | Advice::Slept | Advice::Ignored => "Duration::from_secs(seconds)".to_owned(),
        };
        self.out.line(depth + 1, format!("pause = {value};"));
        self.out.line(depth, "}");
        self.sleep(depth, "pause");
    }
}
