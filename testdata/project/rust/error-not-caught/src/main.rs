mod quote;
mod wire;

fn main() {}
