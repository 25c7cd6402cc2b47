//! What a policy calls between a failed attempt and the next one: a hook that logs, counts, or sees to the cause.

use super::machine::{Machine, Out, Res};
use super::pieces::{here, is_callable};
use super::state::State;
use super::value::Value;
use crate::source::Span;

/// The parts of a policy that are called once an attempt has failed and before the next one, in this order.
const HOOKS: [&str; 2] = ["on-failure", "on-wait"];

impl Machine<'_> {
    /// Runs the hooks of a policy that are functions of the project's; what others do is not known.
    pub(super) fn tell(&mut self, state: State, receiver: &Value, about: [Value; 3], span: Span, out: &mut Out) {
        let Some(policy) = self.piece(here(&state), receiver) else {
            return out.push((state, Res::Value(Value::None)));
        };
        let mut hooks: Vec<Value> = Vec::new();
        for part in HOOKS.iter().filter_map(|key| policy.part(key)) {
            match part {
                Value::Tuple(several) => hooks.extend(several.iter().filter(|hook| is_callable(hook)).cloned()),
                one if is_callable(one) => hooks.push(one.clone()),
                _ => {}
            }
        }
        if hooks.is_empty() {
            return out.push((state, Res::Value(Value::None)));
        }
        let [attempt, error, result] = about;
        let given = Self::attempt_state(&policy, attempt, error.clone(), result).unwrap_or(error);
        match hooks.as_slice() {
            [hook] => self.ask(state, &hook.clone(), given, out, span),
            _ => self.ask_prelude(state, "tell_each", vec![Value::Tuple(hooks.into()), given], span, out),
        }
    }
}
