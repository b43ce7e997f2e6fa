//! Streams as real servers send them: each `fixtures/wire/NAME.sse` must give `NAME.txt`.

use std::path::Path;

use expect_test::expect_file;

use super::*;

#[tokio::test]
async fn streams_of_real_servers_give_their_replies() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut streams: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "sse")).collect();
    streams.sort();
    assert!(!streams.is_empty());
    for stream in streams {
        let body = std::fs::read(&stream).unwrap();
        let whole = Answer::opened().chunk(&body).end();
        let in_bytes = body.iter().fold(Answer::opened(), |answer, byte| answer.chunk([*byte]));
        let server = WireServer::start([whole, in_bytes.end()]);
        let chat = chat(&server);
        let first = tell_known(&chat, &body).await;
        let second = tell_known(&chat, &body).await;
        expect_file![stream.with_extension("txt")].assert_eq(&first);
        assert_eq!(first, second, "{} in single bytes", stream.display());
    }
}

/// Asks, and tells what came, without the ids that were made for calls.
async fn tell_known(chat: &Client, body: &[u8]) -> String {
    let chunks = ask(chat, &[Message::user("go")]).await;
    let mut told = tell(&chunks, chat.host());
    for call in reply(chunks).calls {
        if !String::from_utf8_lossy(body).contains(&call.id.0) {
            told = told.replace(&call.id.0, "MADE");
        }
    }
    told
}
