//! Streams cut anywhere: the bytes of a server give one reply, however the network tears them.

use std::path::{Path, PathBuf};

use super::*;

fn streams() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "sse")).collect()
}

/// Streams longer than this are not cut at every byte, which would take long.
const SHORT: usize = 1_200;

/// Reads `pieces` and tells what came, the ids that were made for calls left out.
async fn read(client: &Client, pieces: &[&[u8]]) -> String {
    let tools = tools();
    let messages = [client.encode(&Message::user("go"))];
    let request = Request { system: "S", tools: &tools, messages: &messages };
    let chunks = client.read(request, pieces).await;
    let mut told = tell(&chunks, client.host());
    if let Some(Ok(Chunk::Done(reply))) = chunks.last() {
        let body = pieces.concat();
        for call in &reply.calls {
            if !String::from_utf8_lossy(&body).contains(&call.id.0) {
                told = told.replace(&call.id.0, "MADE");
            }
        }
    }
    told
}

#[tokio::test]
async fn every_cut_of_a_recorded_stream_gives_the_same_reply() {
    let client = Client::new(Wire::Chat, Options::new("http://server/v1", "m")).unwrap();
    let streams = streams();
    assert!(streams.len() > 9);
    for path in streams {
        let body = std::fs::read(&path).unwrap();
        let whole = read(&client, &[&body]).await;
        assert!(whole.contains("done: "), "{}: {whole}", path.display());
        let step = if body.len() <= SHORT { 1 } else { 5 };
        for cut in (0..body.len()).step_by(step) {
            let (head, tail) = body.split_at(cut);
            assert_eq!(read(&client, &[head, tail]).await, whole, "{} at {cut}", path.display());
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(read(&client, &bytes).await, whole, "{} in single bytes", path.display());
    }
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_before_its_end_is_no_reply() {
    let client = Client::new(Wire::Chat, Options::new("http://server/v1", "m")).unwrap();
    for path in streams() {
        let body = std::fs::read(&path).unwrap();
        let text = String::from_utf8(body.clone()).unwrap();
        // The end is where the server first says so.
        let said = text.find("\"finish_reason\":\"").unwrap();
        for end in (0..said).step_by(7) {
            let told = read(&client, &[&body[..end]]).await;
            assert!(told.contains("error: the reply of"), "{} to {end}: {told}", path.display());
        }
    }
}
