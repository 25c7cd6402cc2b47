//! Conditions on a status in all the forms that code gives them: as values that can be evaluated, and as text.

use proptest::prelude::*;
use stormlint::source::Language;

/// A comparison with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Cmp {
    pub const ALL: [Cmp; 6] = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Eq, Cmp::Ne];

    fn sign(self) -> &'static str {
        match self {
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
        }
    }

    fn holds(self, left: u16, right: u16) -> bool {
        match self {
            Cmp::Lt => left < right,
            Cmp::Le => left <= right,
            Cmp::Gt => left > right,
            Cmp::Ge => left >= right,
            Cmp::Eq => left == right,
            Cmp::Ne => left != right,
        }
    }
}

/// Where the statuses of a membership test are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// In the condition.
    Here,
    /// In a constant of the module.
    Module,
    /// In a class attribute or associated constant.
    Class,
    /// By the names that the library gives them.
    Named,
}

/// A condition on a status.
#[derive(Debug, Clone)]
pub enum Cond {
    /// `status < 500`
    Compare(Cmp, u16),
    /// `500 <= status < 600`; the flag: the upper end belongs to it.
    Between(u16, u16, bool),
    /// `status in (429, 503)`; the flag: `not in`.
    In(Vec<u16>, Written, bool),
    /// `status // 100 == 5`
    Class(Cmp, u16),
    /// `response.ok`, `is_success()`
    Good,
    /// `is_server_error()`, and the like in Python.
    ServerError,
    /// `is_client_error()`
    ClientError,
    /// `matches!(status, 429 | 500..=599)`, `status in range(…)`.
    Ranges(Vec<(u16, u16)>),
    /// A function of the file that tells.
    Asked(Box<Cond>),
    /// Not.
    Not(Box<Cond>),
    /// And.
    Both(Box<Cond>, Box<Cond>),
    /// Or.
    Either(Box<Cond>, Box<Cond>),
}

/// A condition as text, with what it needs before the function.
#[derive(Debug, Default)]
pub struct Needs {
    pub items: Vec<String>,
}

/// The names of statuses that both languages have.
pub const NAMED: [(u16, &str); 8] = [
    (200, "OK"),
    (404, "NOT_FOUND"),
    (408, "REQUEST_TIMEOUT"),
    (429, "TOO_MANY_REQUESTS"),
    (500, "INTERNAL_SERVER_ERROR"),
    (502, "BAD_GATEWAY"),
    (503, "SERVICE_UNAVAILABLE"),
    (504, "GATEWAY_TIMEOUT"),
];

impl Cond {
    pub fn holds(&self, language: Language, status: u16) -> bool {
        match self {
            Cond::Compare(cmp, number) => cmp.holds(status, *number),
            Cond::Between(low, high, closed) => *low <= status && (status < *high || *closed && status == *high),
            Cond::In(statuses, _, negated) => statuses.contains(&status) != *negated,
            Cond::Class(cmp, number) => cmp.holds(status / 100, *number),
            Cond::Good => match language {
                Language::Python => status < 400,
                Language::Rust => status / 100 == 2,
            },
            Cond::ServerError => status / 100 == 5,
            Cond::ClientError => status / 100 == 4,
            Cond::Ranges(ranges) => ranges.iter().any(|(low, high)| *low <= status && status <= *high),
            Cond::Asked(inner) => inner.holds(language, status),
            Cond::Not(inner) => !inner.holds(language, status),
            Cond::Both(a, b) => a.holds(language, status) && b.holds(language, status),
            Cond::Either(a, b) => a.holds(language, status) || b.holds(language, status),
        }
    }

    /// Its text in Python, where `response` is the answer.
    pub fn python(&self, needs: &mut Needs) -> String {
        let status = "response.status_code";
        match self {
            Cond::Compare(cmp, number) => format!("{status} {} {number}", cmp.sign()),
            Cond::Between(low, high, closed) => {
                format!("{low} <= {status} {} {high}", if *closed { "<=" } else { "<" })
            }
            Cond::In(statuses, written, negated) => {
                let sign = if *negated { "not in" } else { "in" };
                format!("{status} {sign} {}", python_set(statuses, *written, needs))
            }
            Cond::Class(cmp, number) => format!("{status} // 100 {} {number}", cmp.sign()),
            Cond::Good => "response.ok".to_owned(),
            Cond::ServerError => format!("500 <= {status} < 600"),
            Cond::ClientError => format!("400 <= {status} <= 499"),
            Cond::Ranges(ranges) => {
                let parts: Vec<String> = ranges
                    .iter()
                    .map(|(low, high)| match low == high {
                        true => format!("{status} == {low}"),
                        false => format!("{status} in range({low}, {})", high + 1),
                    })
                    .collect();
                format!("({})", parts.join(" or "))
            }
            Cond::Asked(inner) => {
                let body = inner.python(needs);
                let name = format!("is_wanted_{}", needs.items.len());
                needs.items.push(format!("def {name}(response):\n    return {body}\n"));
                format!("{name}(response)")
            }
            Cond::Not(inner) => format!("not ({})", inner.python(needs)),
            Cond::Both(a, b) => format!("({} and {})", a.python(needs), b.python(needs)),
            Cond::Either(a, b) => format!("({} or {})", a.python(needs), b.python(needs)),
        }
    }

    /// Its text in Rust, where `status` is a `StatusCode`.
    pub fn rust(&self, needs: &mut Needs) -> String {
        let status = "status.as_u16()";
        match self {
            Cond::Compare(cmp, number) => format!("{status} {} {number}", cmp.sign()),
            Cond::Between(low, high, true) => format!("({low}..={high}).contains(&{status})"),
            Cond::Between(low, high, false) => format!("({status} >= {low} && {status} < {high})"),
            Cond::In(statuses, written, negated) => {
                let text = rust_membership(statuses, *written, needs);
                if *negated { format!("!{text}") } else { text }
            }
            Cond::Class(cmp, number) => format!("{status} / 100 {} {number}", cmp.sign()),
            Cond::Good => "status.is_success()".to_owned(),
            Cond::ServerError => "status.is_server_error()".to_owned(),
            Cond::ClientError => "status.is_client_error()".to_owned(),
            Cond::Ranges(ranges) => {
                let parts: Vec<String> = ranges
                    .iter()
                    .map(|(low, high)| if low == high { low.to_string() } else { format!("{low}..={high}") })
                    .collect();
                format!("matches!({status}, {})", parts.join(" | "))
            }
            Cond::Asked(inner) => {
                let body = inner.rust(needs);
                let name = format!("is_wanted_{}", needs.items.len());
                needs.items.push(format!("fn {name}(status: reqwest::StatusCode) -> bool {{\n    {body}\n}}\n"));
                format!("{name}(status)")
            }
            Cond::Not(inner) => format!("!({})", inner.rust(needs)),
            Cond::Both(a, b) => format!("({} && {})", a.rust(needs), b.rust(needs)),
            Cond::Either(a, b) => format!("({} || {})", a.rust(needs), b.rust(needs)),
        }
    }
}

fn name_of(status: u16) -> Option<&'static str> {
    NAMED.iter().find(|(number, _)| *number == status).map(|(_, name)| *name)
}

fn listed(statuses: &[u16]) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

fn python_set(statuses: &[u16], written: Written, needs: &mut Needs) -> String {
    let count = needs.items.len();
    match written {
        Written::Here => format!("{{{}}}", listed(statuses)),
        Written::Module => {
            needs.items.push(format!("WANTED_{count} = frozenset([{}])\n", listed(statuses)));
            format!("WANTED_{count}")
        }
        Written::Class => {
            needs.items.push(format!("class Policy{count}:\n    WANTED = ({},)\n", listed(statuses)));
            format!("Policy{count}.WANTED")
        }
        Written::Named => {
            let names: Vec<String> = statuses
                .iter()
                .map(|status| name_of(*status).map_or(status.to_string(), |name| format!("HTTPStatus.{name}")))
                .collect();
            format!("({},)", names.join(", "))
        }
    }
}

fn rust_membership(statuses: &[u16], written: Written, needs: &mut Needs) -> String {
    let count = needs.items.len();
    let (list, length) = (listed(statuses), statuses.len());
    match written {
        Written::Here => format!("[{list}].contains(&status.as_u16())"),
        Written::Module => {
            needs.items.push(format!("const WANTED_{count}: [u16; {length}] = [{list}];\n"));
            format!("WANTED_{count}.contains(&status.as_u16())")
        }
        Written::Class => {
            needs.items.push(format!(
                "struct Policy{count};\n\nimpl Policy{count} {{\n    const WANTED: &'static [u16] = &[{list}];\n}}\n"
            ));
            format!("Policy{count}::WANTED.contains(&status.as_u16())")
        }
        Written::Named => {
            let tests: Vec<String> = statuses
                .iter()
                .map(|status| match name_of(*status) {
                    Some(name) => format!("status == reqwest::StatusCode::{name}"),
                    None => format!("status.as_u16() == {status}"),
                })
                .collect();
            format!("({})", tests.join(" || "))
        }
    }
}

fn status() -> impl Strategy<Value = u16> {
    prop_oneof![
        4 => proptest::sample::select(NAMED.iter().map(|(status, _)| *status).collect::<Vec<_>>()),
        2 => proptest::sample::select(vec![200, 300, 400, 500, 600]),
        1 => 100_u16..600,
    ]
}

fn written() -> impl Strategy<Value = Written> {
    proptest::sample::select(vec![Written::Here, Written::Module, Written::Class, Written::Named])
}

/// Any condition, with boolean combinations.
pub fn any() -> impl Strategy<Value = Cond> {
    let leaf = prop_oneof![
        (proptest::sample::select(Cmp::ALL.to_vec()), status()).prop_map(|(cmp, number)| Cond::Compare(cmp, number)),
        (100_u16..550, 1_u16..200, any_bool()).prop_map(|(low, length, closed)| Cond::Between(
            low,
            (low + length).min(600),
            closed
        )),
        (proptest::collection::vec(status(), 1..5), written(), any_bool())
            .prop_map(|(statuses, written, negated)| Cond::In(statuses, written, negated)),
        (proptest::sample::select(Cmp::ALL.to_vec()), 1_u16..6).prop_map(|(cmp, number)| Cond::Class(cmp, number)),
        Just(Cond::Good),
        Just(Cond::ServerError),
        Just(Cond::ClientError),
        proptest::collection::vec((status(), 0_u16..100), 1..4).prop_map(|ranges| {
            Cond::Ranges(ranges.into_iter().map(|(low, length)| (low, (low + length).min(599).max(low))).collect())
        }),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|cond| Cond::Not(Box::new(cond))),
            inner.clone().prop_map(|cond| Cond::Asked(Box::new(cond))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Cond::Both(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Cond::Either(Box::new(a), Box::new(b))),
        ]
    })
}

fn any_bool() -> impl Strategy<Value = bool> {
    proptest::bool::ANY
}
