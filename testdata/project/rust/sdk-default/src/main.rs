mod clients;
mod upload;

fn main() {}
