//! Conditions on statuses are solved exactly: which of 400 to 599 come back is what the condition says of each.
//!
//! First each form by itself, with the set written out; then random boolean combinations, where each status is tried.
//! A form that is not solved yet stands in its table with what is said of it, and `Gap:` with what should be.

use proptest::strategy::{Strategy, ValueTree};
use stormlint::analysis::status::StatusSet;
use stormlint::source::Language;

use crate::condition::{self, Cond, Needs};
use crate::{compare, number, runner};

/// The statuses that are said to come back.
fn said(language: Language, text: &str) -> String {
    let run = compare::lint(language, text);
    match compare::sites(&run).as_slice() {
        [site] => site.retried_statuses.to_string(),
        sites => format!("{} sites", sites.len()),
    }
}

fn indented(depth: usize, text: &str) -> String {
    text.trim().lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect()
}

/// A loop whose turn ends with these lines; what falls through them is good.
fn python(items: &str, turn: &str) -> String {
    format!(
        "import time\nfrom http import HTTPStatus\n\nimport requests\n\n{items}\n\ndef fetch(url):\n    for attempt in range(3):\n        response = requests.get(url, timeout=5)\n{}        return response.json()\n    raise RuntimeError(\"gave up\")\n",
        indented(2, turn)
    )
}

/// The same with `try` around a turn that begins and ends as it likes.
fn python_try(turn: &str) -> String {
    format!(
        "import time\n\nimport requests\n\nRETRIED = {{429, 502, 503}}\n\n\ndef fetch(url):\n    for attempt in range(3):\n{}    raise RuntimeError(\"gave up\")\n",
        indented(2, turn)
    )
}

fn rust(items: &str, turn: &str) -> String {
    format!(
        "use std::time::Duration;\n\nuse reqwest::StatusCode;\n\n{items}\n\npub fn fetch(client: &reqwest::blocking::Client, url: &str) -> Result<String, Box<dyn std::error::Error>> {{\n    for _ in 0..3 {{\n        let response = client.get(url).send()?;\n        let status = response.status();\n{}        return Ok(response.text()?);\n    }}\n    Err(\"gave up\".into())\n}}\n",
        indented(2, turn)
    )
}

/// A loop around a `match` on what was sent.
fn rust_match(sent: &str, arms: &str) -> String {
    format!(
        "use std::time::Duration;\n\nuse reqwest::StatusCode;\n\npub fn fetch(client: &reqwest::blocking::Client, url: &str) -> Result<String, Box<dyn std::error::Error>> {{\n    for _ in 0..3 {{\n        match {sent} {{\n{}        }}\n        std::thread::sleep(Duration::from_secs(1));\n    }}\n    Err(\"gave up\".into())\n}}\n",
        indented(3, arms)
    )
}

fn hold(language: Language, cases: &[(&str, String, &str)]) {
    let mut faults = Vec::new();
    for (form, text, expected) in cases {
        let said = said(language, text);
        if said != *expected {
            faults.push(format!("{form}: {expected} come back, said are {said}\n{text}"));
        }
    }
    assert!(faults.is_empty(), "{} of {} forms\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn each_form_in_python() {
    let asked = |cond: &str| python("", &format!("if {cond}:\n    time.sleep(1)\n    continue"));
    let with = |items: &str, cond: &str| python(items, &format!("if {cond}:\n    time.sleep(1)\n    continue"));
    let status = "status = response.status_code\n";
    let named = |cond: &str| python("", &format!("{status}if {cond}:\n    time.sleep(1)\n    continue"));
    let good_first = |cond: &str| {
        python_try(&format!(
            "response = requests.get(url, timeout=5)\nif {cond}:\n    return response.json()\ntime.sleep(1)"
        ))
    };
    hold(
        Language::Python,
        &[
            (">=", asked("response.status_code >= 500"), "500-599"),
            (">", asked("response.status_code > 499"), "500-599"),
            ("<", good_first("response.status_code < 500"), "500-599"),
            ("<=", good_first("response.status_code <= 428"), "429-599"),
            ("==", asked("response.status_code == 429"), "429"),
            ("== from the right", asked("503 == response.status_code"), "503"),
            ("!=", asked("response.status_code != 200"), "400-599"),
            ("in a tuple", asked("response.status_code in (429, 503)"), "429,503"),
            ("in a list", asked("response.status_code in [500, 502, 503, 504]"), "500,502-504"),
            ("in a set", asked("response.status_code in {408, 429}"), "408,429"),
            ("not in", asked("response.status_code not in (200, 201, 404)"), "400-403,405-599"),
            ("in a range", asked("response.status_code in range(500, 600)"), "500-599"),
            ("in a constant", with("RETRIED = frozenset({429, 500})", "response.status_code in RETRIED"), "429,500"),
            ("in a joined constant", with("A = {429}\nB = A | {503, 504}", "response.status_code in B"), "429,503-504"),
            (
                "in a class's",
                with("class Policy:\n    CODES = [429, 502]", "response.status_code in Policy.CODES"),
                "429,502",
            ),
            ("in the keys of a dict", with("WAITS = {429: 5, 503: 1}", "response.status_code in WAITS"), "429,503"),
            ("// 100 ==", asked("response.status_code // 100 == 5"), "500-599"),
            ("// 100 !=", asked("response.status_code // 100 != 2"), "400-599"),
            ("// 100 in", asked("response.status_code // 100 in (4, 5)"), "400-599"),
            ("chained <= <", asked("500 <= response.status_code < 600"), "500-599"),
            ("chained < <=", asked("499 < response.status_code <= 503"), "500-503"),
            ("chained backwards", asked("505 > response.status_code >= 500"), "500-504"),
            ("not ok", asked("not response.ok"), "400-599"),
            ("ok leaves", good_first("response.ok"), "400-599"),
            ("the response's truth", good_first("response"), "400-599"),
            ("by names", asked("response.status_code == HTTPStatus.TOO_MANY_REQUESTS"), "429"),
            ("by names of the library", asked("response.status_code == requests.codes.too_many_requests"), "429"),
            (
                "by names, in",
                asked("response.status_code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)"),
                "502,504",
            ),
            ("by a name, >=", asked("response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR"), "500-599"),
            ("a variable", named("status >= 500 or status == 429"), "429,500-599"),
            ("and", named("status >= 400 and status < 500"), "400-499"),
            ("and not", named("status >= 500 and status != 501"), "500,502-599"),
            ("not or", named("not (status < 500 or status > 503)"), "500-503"),
            ("any of", named("any(status == code for code in (429, 503))"), "429,503"),
            // Gap: 500-599.
            ("as text", named("str(status).startswith(\"5\")"), "400-599"),
            (
                "a function",
                with(
                    "def is_transient(code):\n    return code == 429 or code >= 500",
                    "is_transient(response.status_code)",
                ),
                "429,500-599",
            ),
            (
                "a function of the response",
                with(
                    "def failed(answer):\n    if answer.status_code == 404:\n        return False\n    return not answer.ok",
                    "failed(response)",
                ),
                "400-403,405-599",
            ),
            (
                "a lambda",
                with("transient = lambda code: 500 <= code < 505", "transient(response.status_code)"),
                "500-504",
            ),
            (
                "a value of a condition",
                python("", "retry = response.status_code in (429, 503)\nif retry:\n    time.sleep(1)\n    continue"),
                "429,503",
            ),
            (
                "match",
                python(
                    "",
                    "match response.status_code:\n    case 429 | 503:\n        time.sleep(1)\n        continue\n    case code if code >= 505:\n        time.sleep(1)\n        continue",
                ),
                "429,503,505-599",
            ),
            (
                "fatal first",
                python(
                    "",
                    "if response.status_code in (400, 401, 403, 404):\n    raise ValueError(url)\nif response.status_code >= 400:\n    time.sleep(1)\n    continue",
                ),
                "402,405-599",
            ),
            (
                "nested",
                python(
                    "",
                    "if response.status_code >= 400:\n    if response.status_code < 500 and response.status_code != 429:\n        raise ValueError(url)\n    time.sleep(1)\n    continue",
                ),
                "429,500-599",
            ),
            (
                "else",
                python("", "if response.status_code < 500:\n    pass\nelse:\n    time.sleep(1)\n    continue"),
                "500-599",
            ),
            (
                "raise_for_status in the try",
                python_try(
                    "try:\n    response = requests.get(url, timeout=5)\n    response.raise_for_status()\n    return response.json()\nexcept requests.HTTPError:\n    time.sleep(1)",
                ),
                "400-599",
            ),
            (
                "raise_for_status, base class",
                python_try(
                    "try:\n    response = requests.get(url, timeout=5)\n    response.raise_for_status()\n    return response.json()\nexcept requests.RequestException:\n    time.sleep(1)",
                ),
                "400-599",
            ),
            (
                "raise_for_status, filtered",
                python_try(
                    "try:\n    response = requests.get(url, timeout=5)\n    response.raise_for_status()\n    return response.json()\nexcept requests.HTTPError as error:\n    if error.response.status_code not in RETRIED:\n        raise\n    time.sleep(1)",
                ),
                "429,502-503",
            ),
            (
                "raise_for_status after a test",
                python_try(
                    "try:\n    response = requests.get(url, timeout=5)\n    if response.status_code == 404:\n        return None\n    response.raise_for_status()\n    return response.json()\nexcept requests.HTTPError:\n    time.sleep(1)",
                ),
                "400-403,405-599",
            ),
            (
                "raise_for_status outside",
                python_try(
                    "response = requests.get(url, timeout=5)\nif response.status_code != 503:\n    response.raise_for_status()\n    return response.json()\ntime.sleep(1)",
                ),
                "503",
            ),
        ],
    );
}

#[test]
fn each_form_in_rust() {
    let wait = "std::thread::sleep(Duration::from_secs(1));\n    continue;";
    let with = |items: &str, cond: &str| rust(items, &format!("if {cond} {{\n    {wait}\n}}"));
    let asked = |cond: &str| with("", cond);
    let sent = "client.get(url).send()";
    let checked = "client.get(url).send().and_then(|response| response.error_for_status())";
    hold(
        Language::Rust,
        &[
            ("is_server_error", asked("status.is_server_error()"), "500-599"),
            ("is_client_error", asked("status.is_client_error()"), "400-499"),
            ("not is_success", asked("!status.is_success()"), "400-599"),
            ("as_u16 >=", asked("status.as_u16() >= 500"), "500-599"),
            ("as_u16 >", asked("status.as_u16() > 502"), "503-599"),
            ("as_u16 ==", asked("status.as_u16() == 429"), "429"),
            ("as_u16 !=", asked("status.as_u16() != 200"), "400-599"),
            ("compared with a number", asked("status == 429"), "429"),
            ("a constant", asked("status == StatusCode::TOO_MANY_REQUESTS"), "429"),
            ("not a constant", asked("status != StatusCode::OK"), "400-599"),
            ("a constant of the file", with("const BUSY: u16 = 503;", "status.as_u16() == BUSY"), "503"),
            ("a constant, >=", asked("status >= StatusCode::INTERNAL_SERVER_ERROR"), "500-599"),
            ("/ 100 ==", asked("status.as_u16() / 100 == 5"), "500-599"),
            ("/ 100 !=", asked("status.as_u16() / 100 != 2"), "400-599"),
            ("contains in a range", asked("(500..600).contains(&status.as_u16())"), "500-599"),
            ("contains in a closed range", asked("(500..=504).contains(&status.as_u16())"), "500-504"),
            ("contains in an array", asked("[429, 503].contains(&status.as_u16())"), "429,503"),
            (
                "contains in an array of constants",
                asked("[StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT].contains(&status)"),
                "502,504",
            ),
            ("not contains", asked("![200, 404].contains(&status.as_u16())"), "400-403,405-599"),
            (
                "contains in a constant",
                with("const RETRIED: &[u16] = &[429, 502];", "RETRIED.contains(&status.as_u16())"),
                "429,502",
            ),
            (
                "contains in a constant of the library's",
                with(
                    "static RETRIED: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY];",
                    "RETRIED.contains(&status)",
                ),
                "429,502",
            ),
            (
                "contains in an associated constant",
                with(
                    "struct Policy;\nimpl Policy {\n    const CODES: [u16; 2] = [408, 429];\n}",
                    "Policy::CODES.contains(&status.as_u16())",
                ),
                "408,429",
            ),
            ("matches! with a range", asked("matches!(status.as_u16(), 429 | 500..=599)"), "429,500-599"),
            ("matches! with an open range", asked("matches!(status.as_u16(), 500..)"), "500-599"),
            (
                "matches! with constants",
                asked("matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)"),
                "429,503",
            ),
            (
                "matches! with a guard",
                asked("matches!(status.as_u16(), code if code >= 500 && code != 501)"),
                "500,502-599",
            ),
            ("or", asked("status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS"), "429,500-599"),
            ("and not", asked("status.is_client_error() && status != StatusCode::NOT_FOUND"), "400-403,405-499"),
            ("not or", asked("!(status.is_success() || status.is_client_error())"), "500-599"),
            (
                "a function",
                with(
                    "fn is_transient(status: StatusCode) -> bool {\n    status.is_server_error() || status.as_u16() == 429\n}",
                    "is_transient(status)",
                ),
                "429,500-599",
            ),
            (
                "a function with a match",
                with(
                    "fn is_transient(code: u16) -> bool {\n    match code {\n        408 | 429 => true,\n        500..=599 => code != 501,\n        _ => false,\n    }\n}",
                    "is_transient(status.as_u16())",
                ),
                "408,429,500,502-599",
            ),
            (
                "a closure",
                rust(
                    "",
                    &format!(
                        "let transient = |code: u16| code >= 500;\nif transient(status.as_u16()) {{\n    {wait}\n}}"
                    ),
                ),
                "500-599",
            ),
            // Gap: 429,503.
            ("any of", asked("[429, 503].iter().any(|code| *code == status.as_u16())"), "400-599"),
            (
                "a match with ranges",
                rust("", &format!("match status.as_u16() {{\n    429 | 502..=504 => {{ {wait} }}\n    _ => {{}}\n}}")),
                "429,502-504",
            ),
            (
                "a match with constants",
                rust(
                    "",
                    &format!(
                        "match status {{\n    StatusCode::TOO_MANY_REQUESTS => {{ {wait} }}\n    code if code.is_server_error() => {{ {wait} }}\n    _ => {{}}\n}}"
                    ),
                ),
                "429,500-599",
            ),
            (
                "fatal first",
                rust(
                    "",
                    &format!(
                        "if matches!(status.as_u16(), 400 | 401 | 403 | 404) {{\n    return Err(\"refused\".into());\n}}\nif !status.is_success() {{\n    {wait}\n}}"
                    ),
                ),
                "402,405-599",
            ),
            (
                "let else",
                rust("", &format!("let Some(_) = (status.as_u16() < 500).then_some(()) else {{\n    {wait}\n}};")),
                "500-599",
            ),
            (
                "guards of arms",
                rust_match(
                    sent,
                    "Ok(response) if response.status().is_success() => return Ok(response.text()?),\nOk(response) if response.status().as_u16() < 500 => return Err(\"refused\".into()),\nOk(_) => {}\nErr(error) => return Err(error.into()),",
                ),
                "500-599",
            ),
            (
                "error_for_status",
                rust_match(checked, "Ok(response) => return Ok(response.text()?),\nErr(_) => {}"),
                "400-599",
            ),
            (
                "error_for_status, filtered",
                rust_match(
                    checked,
                    "Ok(response) => return Ok(response.text()?),\nErr(error) if error.status() == Some(StatusCode::TOO_MANY_REQUESTS) => {}\nErr(error) => return Err(error.into()),",
                ),
                "429",
            ),
            (
                "error_for_status, is_some_and",
                rust_match(
                    checked,
                    "Ok(response) => return Ok(response.text()?),\nErr(error) if error.status().is_some_and(|status| status.is_server_error()) => {}\nErr(error) => return Err(error.into()),",
                ),
                "500-599",
            ),
        ],
    );
}

/// Random conditions, each status tried.
fn brute_force(language: Language) {
    let mut runner = runner(if language == Language::Python { 3 } else { 4 });
    let strategy = condition::any().prop_map(move |cond| match cond.holds(language, 200) {
        // What asks again after a success is no retry.
        true => Cond::Not(Box::new(cond)),
        false => cond,
    });
    let write = |cond: &Cond| {
        let mut needs = Needs::default();
        match language {
            Language::Python => {
                let text = cond.python(&mut needs);
                python(&needs.items.join("\n\n"), &format!("if {text}:\n    time.sleep(1)\n    continue"))
            }
            Language::Rust => {
                let text = cond.rust(&mut needs);
                rust(
                    &needs.items.join("\n"),
                    &format!("if {text} {{\n    std::thread::sleep(Duration::from_secs(1));\n    continue;\n}}"),
                )
            }
        }
    };
    let real = |cond: &Cond| StatusSet::errors().and(&StatusSet::of(|status| cond.holds(language, status)));
    let wrong = |cond: &Cond| {
        let (real, text) = (real(cond), write(cond));
        let said = said(language, &text);
        let fits = if real.is_empty() { said == "0 sites" } else { said == real.to_string() };
        (!fits).then(|| format!("{real} come back, said are {said}\n{text}"))
    };
    let mut faults = Vec::new();
    for _ in 0..number("STORMLINT_PROGRAMS", 200) {
        let mut tree = strategy.new_tree(&mut runner).expect("a condition");
        let Some(mut fault) = wrong(&tree.current()) else { continue };
        let mut more = tree.simplify();
        while more {
            more = match wrong(&tree.current()) {
                Some(smaller) => {
                    fault = smaller;
                    tree.simplify()
                }
                None => tree.complicate(),
            };
        }
        faults.push(fault);
    }
    faults.sort_by_key(String::len);
    assert!(faults.is_empty(), "{} conditions\n{}", faults.len(), faults[..faults.len().min(3)].join("\n"));
}

#[test]
fn random_conditions_in_python() {
    brute_force(Language::Python);
}

#[test]
fn random_conditions_in_rust() {
    brute_force(Language::Rust);
}
