//! TLS by files, in both versions of HTTP, with a certificate that is replaced.

use std::time::Duration;

use rcgen::CertifiedKey;
use serde_json::json;

use crate::house::House;

fn made() -> CertifiedKey<rcgen::KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

async fn version(
    url: &str,
    house: &House,
    trusted: &CertifiedKey<rcgen::KeyPair>,
    http1: bool,
) -> Option<http::Version> {
    let certificate = reqwest::Certificate::from_der(trusted.cert.der()).unwrap();
    let client = reqwest::Client::builder().add_root_certificate(certificate);
    let client = if http1 { client.http1_only() } else { client }.build().unwrap();
    let body = json!({"model": "sim-small", "messages": [{"role": "user", "content": "hi"}]});
    let sent =
        client.post(format!("{url}/v1/chat/completions")).bearer_auth(&house.key).json(&body).send().await.ok()?;
    assert_eq!(sent.status(), 200);
    Some(sent.version())
}

#[tokio::test]
async fn callers_speak_tls_and_a_new_certificate_is_taken_up() {
    let mut house = House::with("1.00").await;
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    let write = |made: &CertifiedKey<rcgen::KeyPair>| {
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::write(&certificate, made.cert.pem()).unwrap();
    };
    let (first, second) = (made(), made());
    write(&first);
    let flags = ["--tls-certificate", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    house.start_gateway(&flags.map(str::to_owned).each_ref().map(String::as_str)).await;
    let url = house.url.replace("http://127.0.0.1", "https://localhost");
    assert_eq!(version(&url, &house, &first, false).await, Some(http::Version::HTTP_2));
    assert_eq!(version(&url, &house, &first, true).await, Some(http::Version::HTTP_11));
    assert_eq!(version(&url, &house, &second, false).await, None, "another certificate is not trusted");
    assert!(house.http.get(format!("{}/healthz", house.url)).send().await.is_err(), "plain HTTP is not spoken there");
    write(&second);
    testkit::wait::until_async("the new certificate", Duration::from_secs(20), || async {
        Ok(version(&url, &house, &second, false).await)
    })
    .await
    .unwrap();
}
