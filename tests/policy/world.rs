//! What the interpreter knows of the world: a server that fails as it is told, a clock, and the library calls that
//! generated programs make.

use std::cell::RefCell;
use std::rc::Rc;

use crate::condition::NAMED;
use crate::interpreter::{Interpreter, Res, Stop, V, equal, error, nothing, number, ok, some, unsupported};
use crate::observed::{DATE, Fault, LATENCY, MOST, Scenario, Trace};

/// The server and the clock.
pub struct World<'a> {
    scenario: &'a Scenario,
    chance: f64,
    now: f64,
    pub trace: Trace,
    /// Something was drawn at random.
    pub drawn: bool,
}

impl<'a> World<'a> {
    pub fn new(scenario: &'a Scenario, chance: f64) -> World<'a> {
        World { scenario, chance, now: 1000.0, trace: Trace::default(), drawn: false }
    }

    pub fn sleep(&mut self, seconds: f64) {
        self.trace.wait(seconds);
        self.now += seconds;
    }

    /// One request: an answer, or the name of what went wrong.
    fn request(&mut self, method: &str, timeout: Option<f64>) -> Res<Result<V, V>> {
        let asked = self.trace.attempts();
        if asked >= MOST {
            return Err(Stop::Enough);
        }
        let fails = &self.scenario.fails;
        let fault = &fails[asked.min(fails.len() - 1)];
        self.trace.request(method, timeout);
        self.now += LATENCY;
        Ok(match fault {
            Fault::Status(status) => Ok(V::Response(*status, self.scenario.advice.as_deref().map(Rc::from))),
            Fault::Exception(name) => Err(V::Exception(name.as_str().into())),
        })
    }

    fn draw(&mut self, low: f64, high: f64) -> V {
        self.drawn = true;
        V::Float(low + (high - low) * self.chance)
    }
}

/// A name from outside the file.
pub fn path(path: &str) -> V {
    let last = path.rsplit(['.', ':']).next().unwrap_or(path);
    match NAMED.iter().find(|(_, name)| *name == last) {
        Some((status, _)) => V::Int(i128::from(*status)),
        None if path.ends_with("Duration::ZERO") => V::Float(0.0),
        None => V::Path(path.into()),
    }
}

const CLASSES: [(&str, &[&str]); 8] = [
    ("HTTPError", &["RequestException"]),
    ("ConnectionError", &["RequestException"]),
    ("Timeout", &["RequestException"]),
    ("ConnectTimeout", &["ConnectionError", "Timeout"]),
    ("ReadTimeout", &["Timeout"]),
    ("ChunkedEncodingError", &["RequestException"]),
    ("RequestException", &["Exception"]),
    ("ValueError", &["Exception"]),
];

fn is_a(class: &str, base: &str) -> bool {
    let bases = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, bases)| *bases);
    class == base || base == "Exception" || bases.iter().any(|one| is_a(one, base))
}

/// Whether a handler for a class takes an exception.
pub fn is_exception(exception: &V, class: &V) -> Res<bool> {
    let V::Exception(name) = exception else { return unsupported(("no exception", exception)) };
    match class {
        V::Path(path) => Ok(is_a(name, path.rsplit('.').next().unwrap_or(path))),
        V::Seq(classes) => {
            for class in classes.borrow().iter() {
                if is_exception(exception, class)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        other => unsupported(("a class", other)),
    }
}

/// The numbers from one to before another.
fn range(low: &V, high: &V, closed: bool) -> Res<V> {
    let (V::Int(low), V::Int(high)) = (low, high) else {
        // An interval of times.
        return Ok(V::Seq(Rc::new(RefCell::new(vec![low.clone(), high.clone()]))));
    };
    let high = if closed { high + 1 } else { *high };
    Ok(V::Seq(Rc::new(RefCell::new((*low..high).map(V::Int).collect()))))
}

fn ends(items: &V) -> Res<(f64, f64)> {
    let V::Seq(items) = items else { return unsupported(("a range", items)) };
    let items = items.borrow();
    match (items.first(), items.last()) {
        (Some(low), Some(high)) => Ok((number(low)?, number(high)?)),
        _ => unsupported("an empty range"),
    }
}

/// A text as a number of seconds; `None` where it is a date.
fn parsed(text: &V) -> Res<Option<V>> {
    match text {
        V::Str(text) => Ok(text.parse::<i128>().ok().map(V::Int)),
        V::Int(_) | V::Float(_) => Ok(Some(text.clone())),
        other => unsupported(("parsed", other)),
    }
}

fn pick(a: V, b: V, greatest: bool) -> Res<V> {
    Ok(if (number(&a)? > number(&b)?) == greatest { a } else { b })
}

impl Interpreter<'_> {
    pub fn attribute(&mut self, object: V, name: &str) -> Res<V> {
        Ok(match (&object, name) {
            (V::Response(status, _), "status_code") => V::Int(i128::from(*status)),
            (V::Response(status, _), "ok") => V::Bool(*status < 400),
            (V::Response(_, advice), "headers") => V::Headers(advice.clone()),
            (V::Path(module), _) => path(&format!("{module}.{name}")),
            (V::Class(class), _) => self.class_attribute(*class, name)?,
            _ => V::Method(Rc::new(object), name.into()),
        })
    }

    pub fn call_value(&mut self, callee: V, args: Vec<V>, named: Vec<(String, V)>) -> Res<V> {
        match callee {
            V::Func(id, outer) => self.call(id, outer, args, named),
            V::Method(receiver, name) => self.method((*receiver).clone(), &name, args, named),
            V::Path(path) => self.library(&path, args, named),
            other => unsupported(("called", other)),
        }
    }

    fn library(&mut self, path: &str, args: Vec<V>, named: Vec<(String, V)>) -> Res<V> {
        let first = args.first().cloned().unwrap_or(V::None);
        let second = args.get(1).cloned().unwrap_or(V::None);
        let factor = match path {
            "std::time::Duration::from_millis" => Some(0.001),
            "std::time::Duration::from_secs" | "std::time::Duration::from_secs_f64" => Some(1.0),
            _ => None,
        };
        if let Some(factor) = factor {
            return Ok(V::Float(number(&first)? * factor));
        }
        Ok(match path {
            "builtins.range" if args.len() == 1 => range(&V::Int(0), &first, false)?,
            "builtins.range" | "std::ops::Range::new" => range(&first, &second, false)?,
            "std::ops::RangeInclusive::new" => range(&first, &second, true)?,
            "builtins.frozenset" | "builtins.set" | "Box::pin" | "u64::from" => first,
            "builtins.min" | "std::cmp::min" => pick(first, second, false)?,
            "builtins.max" | "std::cmp::max" => pick(first, second, true)?,
            "builtins.float" | "builtins.int" => match parsed(&first)? {
                Some(number) => number,
                None => return Err(Stop::Raised(V::Exception("ValueError".into()))),
            },
            "builtins.next" => match self.next(&first)? {
                Some(item) => item,
                None => return Err(Stop::Raised(V::Exception("StopIteration".into()))),
            },
            "builtins.pow" => V::Float(number(&first)?.powf(number(&second)?)),
            "builtins.RuntimeError" => V::Exception("RuntimeError".into()),
            "time.sleep" | "std::thread::sleep" => {
                self.world.sleep(number(&first)?);
                V::None
            }
            "tokio::time::sleep" => V::Sleep(number(&first)?),
            "time.monotonic" | "std::time::Instant::now" | "std::time::SystemTime::now" | "datetime.datetime.now" => {
                V::Float(self.world.now)
            }
            "random.uniform" => self.world.draw(number(&first)?, number(&second)?),
            "rand::random" => self.world.draw(0.0, 1.0),
            "rand::thread_rng" => V::Path("generator".into()),
            "email.utils.parsedate_to_datetime" => V::Float(self.world.now + DATE),
            "httpdate::parse_http_date" => ok(V::Float(self.world.now + DATE)),
            "requests.get" | "requests.post" | "requests.put" => {
                let limit =
                    named.iter().find(|(name, _)| name == "timeout").map(|(_, limit)| number(limit)).transpose()?;
                let method = path.trim_start_matches("requests.").to_uppercase();
                self.world.request(&method, limit)?.map_err(Stop::Raised)?
            }
            "std::default::Default::default" | "String::new" | "std::string::String::new" => V::Str("".into()),
            other => return unsupported(("library", other)),
        })
    }

    pub fn method(&mut self, receiver: V, name: &str, args: Vec<V>, named: Vec<(String, V)>) -> Res<V> {
        let first = args.first().cloned().unwrap_or(V::None);
        Ok(match (&receiver, name) {
            (V::Path(client), "get" | "post" | "put") if &**client == "client" => {
                V::Builder(name.to_uppercase().into(), None)
            }
            (V::Builder(method, _), "timeout") => V::Builder(method.clone(), Some(number(&first)?)),
            (V::Builder(method, limit), "send") => match self.world.request(method, *limit)? {
                Ok(response) => ok(response),
                Err(kind) => error(kind),
            },
            (V::Response(status, _), "status") => V::Int(i128::from(*status)),
            (V::Response(_, advice), "headers") => V::Headers(advice.clone()),
            (V::Response(..), "text") => ok(V::Str("text".into())),
            (V::Response(..), "json") => V::Str("data".into()),
            (V::Response(status, _), "error_for_status") if *status >= 400 => error(V::Exception("Status".into())),
            (V::Response(..), "error_for_status") => ok(receiver),
            (V::Response(status, _), "raise_for_status") if *status >= 400 => {
                return Err(Stop::Raised(V::Exception("HTTPError".into())));
            }
            (V::Response(..), "raise_for_status") => V::None,
            (V::Headers(advice), "get") => match (advice, self.is_python) {
                (Some(text), true) => V::Str(text.clone()),
                (None, true) => V::None,
                (Some(text), false) => some(V::Str(text.clone())),
                (None, false) => nothing(),
            },
            (V::Variant(kind, args), "and_then" | "ok" | "unwrap_or_default") => match (&**kind, name) {
                ("Ok" | "Some", "and_then") => self.call_value(first, args.to_vec(), Vec::new())?,
                ("Ok", "ok") => some(args[0].clone()),
                ("Err", "ok") => nothing(),
                ("Ok" | "Some", "unwrap_or_default") => args[0].clone(),
                (_, "and_then") => receiver,
                _ => return unsupported((kind, name)),
            },
            (V::Str(_), "to_str") => ok(receiver),
            (V::Str(text), "isdigit") => V::Bool(text.bytes().all(|byte| byte.is_ascii_digit())),
            (V::Str(_), "parse") => match parsed(&receiver)? {
                Some(number) => ok(number),
                None => error(V::None),
            },
            (V::Exception(kind), "is_connect") => V::Bool(kind.starts_with("Connect")),
            (V::Exception(kind), "is_timeout") => V::Bool(kind.ends_with("Timeout")),
            (V::Int(status), "is_success") => V::Bool(status / 100 == 2),
            (V::Int(status), "is_client_error") => V::Bool(status / 100 == 4),
            (V::Int(status), "is_server_error") => V::Bool(status / 100 == 5),
            (V::Int(base), "pow") => {
                let power = number(&first)?;
                match base.checked_pow(power as u32) {
                    Some(number) => V::Int(number),
                    None => V::Float(2_f64.powf(power)),
                }
            }
            (_, "powi") => V::Float(number(&receiver)?.powf(number(&first)?)),
            (_, "mul_f64") => V::Float(number(&receiver)? * number(&first)?),
            (_, "min") => pick(receiver, first, false)?,
            (_, "max") => pick(receiver, first, true)?,
            (V::Path(_), "gen_range") => {
                let (low, high) = ends(&first)?;
                self.world.draw(low, high)
            }
            (V::Seq(items), "contains") => V::Bool(items.borrow().iter().any(|item| equal(item, &first))),
            (V::Float(then), "duration_since") => ok(V::Float(then - number(&first)?)),
            (_, "as_u16" | "into" | "total_seconds" | "to_string" | "to_owned" | "clone" | "iter") => receiver,
            (V::Path(module), _) => self.library(&format!("{module}.{name}"), args.clone(), named)?,
            _ => return unsupported(("method", receiver, name)),
        })
    }
}
