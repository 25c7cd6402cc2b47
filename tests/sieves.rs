//! What is told from names alone before anything is explored must not lose what exploring would find.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use common::inventory::sites;
use stormlint::source::Language;

fn forms(text: &str) -> Vec<String> {
    let found = sites(text, Language::Python);
    found.iter().map(|site| site["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_second_try_may_differ_in_a_flag_and_is_none_of_another_text() {
    let with = |first: &str, second: &str| {
        forms(&format!(
            "import requests\n\ndef fetch(url):\n    try:\n        return requests.get({first})\n    except \
             requests.ConnectionError:\n        return requests.get({second})\n"
        ))
    };
    assert_eq!(with("url, timeout=5", "url, timeout=5"), ["straight-line"]);
    assert_eq!(with("url, allow_redirects=True", "url, allow_redirects=True"), ["straight-line"]);
    assert_eq!(with("'http://a', timeout=5", "'http://b', timeout=5"), [""; 0]);
}

#[test]
fn a_method_of_the_base_is_no_recursion_and_one_of_itself_is() {
    let with = |call: &str| {
        forms(&format!(
            "import requests\n\nclass Api(Base):\n    def fetch(self, url):\n        try:\n            return \
             requests.get(url, timeout=5)\n        except requests.ConnectionError:\n            return {call}\n"
        ))
    };
    assert_eq!(with("self.fetch(url)"), ["recursion"]);
    assert_eq!(with("super().fetch(url)"), [""; 0]);
    assert_eq!(with("self.other.fetch(url)"), [""; 0]);
}

#[test]
fn a_policy_is_found_behind_names_of_the_projects_own() {
    let with = |before: &str, decorator: &str| {
        forms(&format!(
            "import requests\nfrom tenacity import retry, stop_after_attempt, Retrying\n\n{before}\n\n@{decorator}\ndef \
             fetch(url):\n    return requests.get(url, timeout=5)\n"
        ))
    };
    assert_eq!(with("", "retry(stop=stop_after_attempt(3))"), ["decorator"]);
    assert_eq!(with("often = retry(stop=stop_after_attempt(3))", "often"), ["decorator"]);
    assert_eq!(with("def often():\n    return retry(stop=stop_after_attempt(3))", "often()"), ["decorator"]);
    assert_eq!(with("class Plans:\n    often = retry(stop=stop_after_attempt(3))", "Plans.often"), ["decorator"]);
}

#[test]
fn a_helper_is_found_by_what_it_is_handed() {
    let helper = "import time\nimport requests\n\ndef often(call):\n    for turn in range(3):\n        try:\n            \
                  return call()\n        except requests.ConnectionError:\n            time.sleep(1)\n\n";
    let with = |work: &str| {
        forms(&format!(
            "{helper}\nclass Job:\n    def send(self):\n        return requests.get(self.url, timeout=5)\n\n    def run(self):\n        return {work}\n"
        ))
    };
    let brought = |found: Vec<String>| found.iter().filter(|form| *form == "decorator").count();
    assert_eq!(brought(with("often(lambda: requests.get(self.url, timeout=5))")), 1);
    assert_eq!(brought(with("often(self.send)")), 1);
    assert_eq!(brought(with("often(lambda: self.rows.sort())")), 0);
}
