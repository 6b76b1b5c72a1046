//! `/healthz/proof`: what a server says before it is sent a token, and what it does not say.

use axum::body::Body;
use engine::{hash_token, proof};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::world::{OPERATOR, World, request, whole};

const URL: &str = "http://127.0.0.1:3001";

async fn ask(world: &World, key: &str, nonce: &str) -> (StatusCode, Value) {
    let path = format!("/healthz/proof?key={key}&nonce={nonce}");
    let (status, _, body) =
        whole(world.send(request(Method::GET, &path, None, Body::empty())).await).await;
    (status, body)
}

#[tokio::test]
async fn the_server_proves_that_it_knows_a_token_without_being_told_the_token() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let nonce = "5".repeat(proof::NONCE_DIGITS);
    for token in [OPERATOR, &member.token] {
        let hash = hash_token(token);
        let (status, body) = ask(&world, proof::key_of(&hash), &nonce).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(body["url"], URL, "a proof is for one address");
        assert_eq!(body["proof"], proof::proof(&hash, &nonce, URL));
        assert!(!body.to_string().contains(&hash), "{body}");
    }
}

#[tokio::test]
async fn nobody_learns_which_tokens_there_are() {
    let world = World::new();
    let nonce = "5".repeat(proof::NONCE_DIGITS);
    let unknown = hash_token("adjag_nobody");
    let (status, body) = ask(&world, proof::key_of(&unknown), &nonce).await;
    assert_eq!(status, StatusCode::OK);
    let answered = body["proof"].as_str().unwrap();
    assert_eq!(answered.len(), 64);
    assert_ne!(answered, proof::proof(&unknown, &nonce, URL));
    for (key, nonce) in [("", ""), ("0", &*nonce), (proof::key_of(&unknown), "short"), ("%", "%")] {
        assert_eq!(
            ask(&world, key, nonce).await.0,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{key} {nonce}"
        );
    }
}
