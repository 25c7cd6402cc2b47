//! How a JSON document is written: indented, with a line end, and with nothing in it that a terminal would obey.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::visible;

/// Writes the document.
pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    document.serialize(&mut Serializer::with_formatter(&mut *out, Printable(PrettyFormatter::new())))?;
    writeln!(out)
}

struct Printable<'a>(PrettyFormatter<'a>);

/// Hands on to the inner formatter.
macro_rules! as_inner {
    ($($name:ident($($argument:ident: $kind:ty)?)),*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $kind)?) -> io::Result<()> {
            self.0.$name(out $(, $argument)?)
        })*
    };
}

impl Formatter for Printable<'_> {
    as_inner!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        begin_object_value(),
        end_object_value()
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        visible::json_fragment(fragment, out)
    }
}
