import fc from "fast-check";
import { test } from "tap";
import { authorizationHeader } from "../../../adapters/maas/authorization.ts";
import { createSignatureCheck } from "../../../adapters/maas/fake/check-signature.ts";

const apiKey = { consumer: "c", token: "t", secret: "s" };

test("the header is one that a real MAAS 3.4 accepts", async (t) => {
  t.equal(
    authorizationHeader(apiKey, { nonce: "n", timestampSeconds: 1_795_220_331 }),
    'OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="c", oauth_token="t", oauth_signature="%26s", oauth_nonce="n", oauth_timestamp="1795220331"',
  );
});

test("any key is decoded from the header unchanged, and cannot add a header", async (t) => {
  const part = fc.string({ unit: "binary-ascii", minLength: 1 });
  fc.assert(
    fc.property(part, part, part, (consumer, token, secret) => {
      const key = { consumer, token, secret };
      const authorization = authorizationHeader(key, { nonce: "n", timestampSeconds: 1_000 });
      const user = { username: "a", isAdmin: false, apiKey: key };
      const check = createSignatureCheck([user], () => 1_000_000);
      const request = {
        method: "GET",
        path: "/",
        op: undefined,
        query: new URLSearchParams(),
        authorization,
      };
      const isTaken = check({ ...request, form: new URLSearchParams() }) === user;
      return isTaken && /^[\x20-\x7e]+$/.test(authorization);
    }),
  );
  t.pass();
});
