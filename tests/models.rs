//! The built-in models: every file is sound, hangs together with the others, and answers the questions that are asked
//! of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use stormlint::models::{AllModels, DefaultTimeout, Entry, Kind, ModelFile, Models, Unit, builtin, parse, versions};
use stormlint::report::examples;
use stormlint::source::Language;

const LANGUAGES: [Language; 2] = [Language::Python, Language::Rust];

fn files() -> Vec<(Language, &'static str, ModelFile)> {
    let mut all = Vec::new();
    for language in LANGUAGES {
        for (name, text) in builtin::files(language) {
            let (file, errors) = parse(name, text);
            assert!(errors.is_empty(), "{errors:#?}");
            all.push((language, *name, file.unwrap()));
        }
    }
    all
}

fn models(language: Language) -> &'static Models {
    AllModels::builtin().of(language)
}

#[test]
fn every_file_in_the_folder_is_built_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/models");
    let mut on_disk = BTreeSet::new();
    for language in LANGUAGES {
        for entry in std::fs::read_dir(root.join(language.name())).unwrap() {
            on_disk.insert(format!("{}/{}", language.name(), entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    let listed: BTreeSet<_> = LANGUAGES.iter().flat_map(|language| builtin::files(*language)).collect();
    let listed: BTreeSet<_> = listed.into_iter().map(|file| file.0.to_string()).collect();
    assert_eq!(on_disk, listed);
}

#[test]
fn every_file_loads_without_an_error() {
    let (_, errors) = AllModels::load(&[]);
    assert!(errors.is_empty(), "{errors:#?}");
    for (_, name, file) in files() {
        assert!(!file.entries.is_empty(), "{name} says nothing");
        assert!(!file.sources.is_empty(), "{name} names no source");
    }
}

#[test]
fn every_file_is_held_against_an_example() {
    let bare: Vec<_> =
        files().into_iter().filter(|(.., file)| file.examples.is_empty()).map(|(_, name, _)| name).collect();
    assert!(bare.is_empty(), "no example exercises {bare:?}");
}

#[test]
fn every_type_that_has_methods_is_told_of() {
    for (language, name, file) in files() {
        // What lets several things run at once is looked for by what its type is called, not by a value.
        for entry in file.entries.iter().filter(|entry| entry.kind != Kind::Crowd) {
            // `*` is any type, and `?…` one that is known by what is asked of it.
            for ty in entry.types.iter().filter(|ty| *ty != "*" && !ty.starts_with('?')) {
                let known = models(language).entries().iter().any(|other| {
                    matches!(other.kind, Kind::Type | Kind::Exception)
                        && (other.gives.as_ref() == Some(ty)
                            || other.functions.contains(ty)
                            || other.aliases.contains(ty))
                });
                let given = models(language).entries().iter().any(|other| other.gives.as_ref() == Some(ty));
                assert!(known || given, "{name}:{}: no entry tells where a `{ty}` comes from", entry.line);
            }
        }
    }
}

#[test]
fn every_class_that_is_raised_or_inherited_is_known() {
    for (language, name, file) in files() {
        let models = models(language);
        for entry in &file.entries {
            let raised = entry.raises.iter().chain(entry.bases.iter()).chain(entry.status_error.iter());
            for class in raised {
                assert!(models.knows_type(class), "{name}:{}: `{class}` is not told of", entry.line);
            }
            if entry.kind == Kind::Exception {
                let mut above = models.ancestors(&entry.functions[0]);
                let root = match language {
                    Language::Python => "builtins.BaseException",
                    Language::Rust => continue,
                };
                assert!(
                    above.any(|class| class == root) || entry.functions[0] == root,
                    "{name}:{}: not under {root}",
                    entry.line
                );
            }
        }
    }
}

#[test]
fn every_policy_and_wait_that_is_named_is_told_of() {
    for (language, name, file) in files() {
        for entry in &file.entries {
            for path in entry.waits.iter().chain(&entry.policy) {
                let told = models(language).function(path).is_some_and(|told| told.kind == Kind::Retry);
                assert!(told, "{name}:{}: `{path}` is no policy and no wait", entry.line);
            }
            assert!(
                entry.policy.is_none() || entry.retries.is_some(),
                "{name}:{}: `policy` needs `retries`",
                entry.line
            );
        }
    }
}

#[test]
fn nothing_is_said_twice_in_one_file() {
    for (_, name, file) in files() {
        let mut seen: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
        for entry in &file.entries {
            let methods =
                entry.types.iter().flat_map(|ty| entry.names.iter().map(move |method| format!("{ty}#{method}")));
            for path in entry.functions.iter().cloned().chain(methods) {
                // What lets several things run at once is said beside what the same call is otherwise.
                let path = if entry.kind == Kind::Crowd { format!("{path} (crowd)") } else { path };
                let before = seen.entry(path.clone()).or_default();
                let twice = before.iter().find(|before| versions::overlap(before, entry)).map(|before| before.line);
                assert_eq!(twice, None, "{name}:{}: `{path}` was told of at that line", entry.line);
                before.push(entry);
            }
        }
    }
}

#[test]
fn paths_are_written_as_their_language_writes_them() {
    for (language, name, file) in files() {
        for entry in &file.entries {
            for path in entry.functions.iter().chain(&entry.types).chain(&entry.gives).chain(&entry.raises) {
                let sound = match language {
                    Language::Python => !path.contains("::"),
                    Language::Rust => !path.replace("::", "").contains([':', '.']),
                };
                assert!(sound && !path.contains(' '), "{name}:{}: `{path}`", entry.line);
            }
        }
    }
}

#[test]
fn every_example_parses_as_what_it_is() {
    for (language, name, file) in files() {
        for example in &file.examples {
            let sound = match language {
                Language::Python => example.code.contains("def ") || example.code.contains("import "),
                Language::Rust => syn::parse_file(&example.code).is_ok(),
            };
            assert!(sound, "{name}: {}", example.code);
        }
    }
}

#[test]
fn every_example_yields_what_it_says() {
    let mut faults = Vec::new();
    for (language, name, file) in files() {
        for example in &file.examples {
            let found = examples::faults(example, language, &Arc::default());
            faults.extend(found.into_iter().map(|fault| format!("{name}:{}: {fault}", example.line)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn python_requests_are_found_by_function_session_and_alias() {
    let python = models(Language::Python);
    let post = python.function("requests.post").unwrap();
    assert_eq!(post.kind, Kind::Request);
    assert!(post.verb_is_name);
    assert_eq!(post.default_timeout, Some(DefaultTimeout::None(false)));
    assert_eq!(python.method("requests.sessions.Session", "put").unwrap().kind, Kind::Request);
    assert_eq!(python.method("requests.Response", "ok").unwrap().statuses.as_deref(), Some("100-399"));
    assert_eq!(python.method("requests.Timeout", "response").unwrap().kind, Kind::ExceptionResponse);
    assert_eq!(python.function("httpx.Client").unwrap().default_timeout, Some(DefaultTimeout::Seconds(5.0)));
    assert!(python.method("httpx2.AsyncClient", "post").unwrap().is_async);
    assert!(python.method("aiohttp.ClientSession", "get").unwrap().raises_on_status.is_some());
    assert_eq!(python.method("http.client.HTTPConnection", "getresponse").unwrap().kind, Kind::Request);
    assert_eq!(python.method("openai.AzureOpenAI", "chat").unwrap().gives.as_deref(), Some("openai.OpenAI.chat"));
    let create = python.method("openai.AsyncOpenAI.chat.completions", "create").unwrap();
    assert!(create.is_async && create.idempotent == Some(true));
}

#[test]
fn python_exceptions_have_their_hierarchy() {
    let python = models(Language::Python);
    for (class, base) in [
        ("requests.ConnectTimeout", "requests.exceptions.ConnectionError"),
        ("requests.ConnectTimeout", "requests.Timeout"),
        ("requests.HTTPError", "IOError"),
        ("requests.JSONDecodeError", "builtins.ValueError"),
        ("asyncio.CancelledError", "builtins.BaseException"),
        ("aiohttp.ServerTimeoutError", "asyncio.TimeoutError"),
        ("aiohttp.ClientConnectorError", "builtins.OSError"),
        ("urllib.error.HTTPError", "urllib.error.URLError"),
        ("urllib.error.HTTPError", "builtins.OSError"),
        ("socket.timeout", "builtins.OSError"),
        ("httpx.ReadTimeout", "httpx.HTTPError"),
        ("openai.APITimeoutError", "openai.APIError"),
        ("builtins.KeyError", "builtins.LookupError"),
        ("builtins.UnicodeDecodeError", "builtins.ValueError"),
        ("ssl.SSLError", "builtins.OSError"),
        ("http.client.RemoteDisconnected", "builtins.ConnectionResetError"),
    ] {
        let base = if base == "IOError" { "builtins.IOError" } else { base };
        assert_eq!(python.is_subclass(class, base), Some(true), "{class} under {base}");
    }
    for (class, base) in [
        ("asyncio.CancelledError", "builtins.Exception"),
        ("builtins.KeyboardInterrupt", "builtins.Exception"),
        ("requests.exceptions.ConnectionError", "builtins.ConnectionError"),
        ("httpx.InvalidURL", "httpx.HTTPError"),
        ("requests.ReadTimeout", "requests.exceptions.ConnectionError"),
        ("httpx.HTTPError", "builtins.OSError"),
    ] {
        assert_eq!(python.is_subclass(class, base), Some(false), "{class} not under {base}");
    }
    assert_eq!(python.is_subclass("my.Error", "builtins.Exception"), None);
    for class in ["builtins.KeyboardInterrupt", "builtins.SystemExit", "asyncio.CancelledError"] {
        assert!(python.exception(class).unwrap().interrupt, "{class}");
    }
    for class in ["requests.ConnectTimeout", "httpx.ConnectError", "aiohttp.ClientConnectorError", "socket.gaierror"] {
        assert!(python.exception(class).unwrap().before_send, "{class}");
    }
    assert!(!python.exception("requests.exceptions.ConnectionError").unwrap().before_send);
    assert_eq!(python.exception("openai.RateLimitError").unwrap().stands_for.as_deref(), Some("429"));
}

#[test]
fn python_time_chance_and_local_work_are_told_apart() {
    let python = models(Language::Python);
    let sleep = python.function("time.sleep").unwrap();
    assert!(sleep.kind == Kind::Sleep && sleep.blocking && !sleep.is_async && sleep.unit == Unit::Seconds);
    assert!(python.function("asyncio.sleep").unwrap().is_async);
    assert_eq!(python.method("threading.Event", "wait").unwrap().kind, Kind::WaitFor);
    assert_eq!(python.method("threading.Event", "is_set").unwrap().kind, Kind::StopFlag);
    assert_eq!(python.function("time.monotonic_ns").unwrap().unit, Unit::Nanoseconds);
    assert_eq!(python.function("datetime.timedelta").unwrap().parts.len(), 7);
    assert_eq!(python.function("logging.warning").unwrap().kind, Kind::Local);
    assert_eq!(python.function("json.loads").unwrap().raises, ["json.decoder.JSONDecodeError"]);
    assert_eq!(python.function("json.dumps").unwrap().kind, Kind::Local);
    assert_eq!(python.function("uuid.uuid4").unwrap().kind, Kind::Fresh);
    assert_eq!(python.function("uuid.uuid5").unwrap().kind, Kind::Local);
    assert_eq!(python.function("email.utils.parsedate_to_datetime").unwrap().kind, Kind::ParseDate);
    assert_eq!(python.function("braintree.Customer.create").unwrap().kind, Kind::Remote);
    assert_eq!(python.method("braintree.BraintreeGateway", "customer").unwrap().kind, Kind::Remote);
    assert_eq!(python.function("http.HTTPStatus.TOO_MANY_REQUESTS").unwrap().statuses.as_deref(), Some("429"));
    assert_eq!(python.function("requests.codes.service_unavailable").unwrap().statuses.as_deref(), Some("503"));
    assert_eq!(&*python.library_of("requests.exceptions.Timeout").unwrap().name, "requests");
    assert!(python.types_with_method("raise_for_status").iter().any(|found| &*found.ty == "requests.Response"));
}

#[test]
fn rust_requests_are_built_and_sent() {
    let rust = models(Language::Rust);
    let get = rust.method("reqwest::Client", "post").unwrap();
    assert_eq!((get.kind, get.gives.as_deref()), (Kind::Prepare, Some("reqwest::RequestBuilder")));
    let send = rust.method("reqwest::RequestBuilder", "send").unwrap();
    assert!(send.kind == Kind::Request && send.is_async && send.result);
    assert_eq!(send.default_timeout, Some(DefaultTimeout::None(false)));
    let blocking = rust.method("reqwest::blocking::RequestBuilder", "send").unwrap();
    assert!(!blocking.is_async && blocking.default_timeout == Some(DefaultTimeout::Seconds(30.0)));
    assert_eq!(rust.method("reqwest::RequestBuilder", "timeout").unwrap().kind, Kind::Set);
    assert_eq!(rust.method("reqwest::ClientBuilder", "build").unwrap().gives.as_deref(), Some("reqwest::Client"));
    assert!(rust.method("reqwest::Response", "error_for_status").unwrap().loses_response);
    assert_eq!(rust.method("reqwest_middleware::RequestBuilder", "send").unwrap().kind, Kind::Request);
    assert_eq!(rust.method("ureq::Request", "call").unwrap().statuses.as_deref(), Some("400-599"));
    assert_eq!(rust.method("ureq::Response", "headers").unwrap().kind, Kind::Headers);
}

#[test]
fn rust_statuses_headers_and_errors_are_known() {
    let rust = models(Language::Rust);
    for path in ["reqwest::StatusCode::TOO_MANY_REQUESTS", "axum::http::StatusCode::TOO_MANY_REQUESTS"] {
        assert_eq!(rust.function(path).unwrap().statuses.as_deref(), Some("429"), "{path}");
    }
    assert_eq!(rust.method("reqwest::StatusCode", "is_server_error").unwrap().statuses.as_deref(), Some("500-599"));
    assert_eq!(rust.function("reqwest::header::RETRY_AFTER").unwrap().value_text.as_deref(), Some("retry-after"));
    assert_eq!(rust.method("reqwest::header::HeaderMap", "get").unwrap().kind, Kind::HeaderRead);
    assert_eq!(rust.is_subclass("reqwest::Error::ConnectTimeout", "reqwest::Error::Timeout"), Some(true));
    assert_eq!(rust.method("reqwest::Error::ConnectTimeout", "is_timeout").unwrap().kind, Kind::ErrorTest);
    assert!(rust.exception("reqwest::Error::Connect").unwrap().before_send);
    assert_eq!(rust.canonical("ureq::Error::StatusCode"), "ureq::Error::Status");
}

#[test]
fn rust_time_chance_and_arithmetic_are_known() {
    let rust = models(Language::Rust);
    assert!(rust.function("std::thread::sleep").unwrap().blocking);
    assert!(rust.function("tokio::time::sleep").unwrap().is_async);
    assert_eq!(rust.function("tokio::time::Duration::from_millis").unwrap().unit, Unit::Milliseconds);
    assert_eq!(rust.function("tokio::time::Instant::now").unwrap().kind, Kind::Clock);
    assert_eq!(rust.method("tokio::time::Instant", "elapsed").unwrap().kind, Kind::Elapsed);
    assert_eq!(rust.method("std::time::Duration", "as_millis").unwrap().unit, Unit::Milliseconds);
    assert_eq!(rust.method("anything", "saturating_mul").unwrap().function.as_deref(), Some("saturating-mul"));
    assert_eq!(rust.function("tokio::time::timeout").unwrap().kind, Kind::TimeLimit);
    assert_eq!(rust.method("tokio_util::sync::CancellationToken", "is_cancelled").unwrap().kind, Kind::StopFlag);
    assert_eq!(rust.method("reqwest::Client", "clone").unwrap().kind, Kind::Transparent);
    assert_eq!(rust.function("uuid::Uuid::new_v4").unwrap().kind, Kind::Fresh);
    assert_eq!(rust.function("httpdate::parse_http_date").unwrap().kind, Kind::ParseDate);
    assert_eq!(rust.function("aws_sdk_s3::Client::new").unwrap().kind, Kind::Remote);
    assert_eq!(rust.method("sqlx::PgPool", "acquire").unwrap().kind, Kind::Remote);
    assert_eq!(&*rust.library_of("reqwest::Client").unwrap().name, "reqwest");
}

#[test]
fn a_user_file_says_more_of_a_language_and_its_errors_are_told() {
    let own = "library = \"ours\"\nversion = \"1\"\n[[entry]]\nkind = \"request\"\nfunctions = [\"ours.call\"]\nverb = \"GET\"\n";
    let wrong = "library = \"bad\"\nversion = \"1\"\n[[entry]]\nkind = \"sleep\"\nfunction = \"x\"\n";
    let (all, errors) = AllModels::load(&[(Language::Python, "ours.toml", own), (Language::Python, "bad.toml", wrong)]);
    assert_eq!(all.of(Language::Python).function("ours.call").unwrap().kind, Kind::Request);
    assert!(all.of(Language::Python).function("requests.get").is_some());
    assert!(all.of(Language::Rust).function("ours.call").is_none());
    let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("bad.toml:5: "), "{told:?}");
}
