mod nightly;
mod transport;

fn main() {}
