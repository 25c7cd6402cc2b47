mod again;
mod songs;
