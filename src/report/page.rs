//! A rule's page taken apart: Markdown whose first paragraph is the summary.

/// Where the project is found on the web.
pub(super) const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// Where a rule's page is found on the web.
pub(super) fn address(rule: &str) -> String {
    format!("{HOME}/blob/main/rules/{rule}.md")
}

/// The first paragraph of a page, below its title.
pub(super) fn summary(page: &str) -> String {
    paragraph(page.lines())
}

/// The first paragraph below a heading of the second order.
pub(super) fn section(page: &str, heading: &str) -> String {
    paragraph(page.lines().skip_while(|line| line.strip_prefix("## ").map(str::trim) != Some(heading)).skip(1))
}

fn paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines
        .skip_while(|line| line.trim().is_empty() || line.starts_with("# "))
        .take_while(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(str::trim)
        .collect();
    lines.join(" ").replace('`', "")
}

/// The page as text: heading marks and fence lines are left out.
pub(super) fn plain(page: &str) -> String {
    let mut in_fence = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if in_fence {
            lines.push(line);
        } else {
            lines.push(line.trim_start_matches('#').trim_start_matches(' '));
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_apart() {
        let page =
            "# a-rule\n\nOne `line`\nand two.\n\n## What it does\n\nIt looks.\n\n## Examples\n\n```python\n# x\n```\n";
        assert_eq!(summary(page), "One line and two.");
        assert_eq!(section(page, "What it does"), "It looks.");
        assert_eq!(section(page, "Options"), "");
        assert!(plain(page).ends_with("Examples\n\n# x"));
    }
}
