//! What the objects of a class are made with: the class of a constructor's parameter that declares none, told from all
//! the calls in the project that make such an object.
//!
//! An object that does a part of another one's work is often given that one: `self.api = Api(self)`. What it then asks of
//! its owner is known where every maker gives it an owner of one class, or of classes that have a base in common.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::project::{Entity, Project};
use super::value::{ClassRef, FuncRef};
use crate::ir::{Arg, Callee, Function, Op, Slot};

/// As many classes are gone through on the way to a base.
const MOST_BASES: usize = 24;

/// The parameters of constructors of which the class is known.
#[derive(Debug, Default)]
pub struct Makers {
    params: OnceLock<Params>,
}

/// For a constructor and the slot of its parameter: the classes that all that is given for it are of, the nearest first;
/// none where something else is given.
type Params = FxHashMap<(FuncRef, Slot), Vec<ClassRef>>;

impl Project<'_> {
    /// The class of what every call gives for a parameter of a constructor.
    pub(super) fn made_with(&self, constructor: FuncRef, param: Slot) -> Option<ClassRef> {
        let params = self.makers().params.get_or_init(|| params(self));
        params.get(&(constructor, param))?.first().copied()
    }

    /// A class and its bases, the nearest first.
    fn line(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut line = vec![class];
        let mut at = 0;
        while let Some(class) = line.get(at).copied().filter(|_| line.len() < MOST_BASES) {
            for base in self.bases(class) {
                if !line.contains(&base) {
                    line.push(base);
                }
            }
            at += 1;
        }
        line
    }
}

fn params(project: &Project<'_>) -> Params {
    let mut params = Params::default();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        for function in module.functions.iter().filter(|function| !function.is_test) {
            let class_of = |op: &Op| match op {
                Op::Class(class) => Some(ClassRef { file, class: *class }),
                Op::Path(path) => match project.entity(path)? {
                    Entity::Class(class) => Some(class),
                    _ => None,
                },
                _ => None,
            };
            let mut made: FxHashMap<Slot, ClassRef> = FxHashMap::default();
            for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
                if let Some((dst, class)) = instr.dst.zip(class_of(&instr.op)) {
                    made.insert(dst, class);
                }
                let Op::Call { callee: Callee::Value(callee), args } = &instr.op else { continue };
                let Some(class) = made.get(callee).copied() else { continue };
                note(project, file, function, class, args, &mut params);
            }
        }
    }
    params
}

/// Notes what an object is made with.
fn note(project: &Project<'_>, file: u32, function: &Function, class: ClassRef, args: &[Arg], params: &mut Params) {
    let Some(init) = project.method(class, "__init__") else { return };
    let Some(constructor) = project.function(init) else { return };
    let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
    let owner = function.class.map(|class| ClassRef { file, class });
    let mut position = 0;
    for param in constructor.params.iter().filter(|param| !param.is_self && !param.is_rest) {
        let named = args.iter().find(|arg| arg.name.as_deref() == Some(param.name.as_str()));
        let given = named.or_else(|| {
            let given = args.iter().filter(|arg| arg.name.is_none()).nth(position);
            position += usize::from(given.is_some());
            given
        });
        let own = given.filter(|arg| !arg.spread && Some(arg.value) == this).and(owner);
        let line = own.map(|owner| project.line(owner)).unwrap_or_default();
        params.entry((init, param.slot)).and_modify(|known| known.retain(|class| line.contains(class))).or_insert(line);
    }
}
