import fc from "fast-check";
import { test } from "tap";
import {
  apiTokenFromSecret,
  isApiToken,
  makeApiToken,
} from "../../../../../server/domains/auth/tokens/api-token-text.ts";

const anySecret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

test("tokens have a fixed form, and differ", async (t) => {
  t.match(makeApiToken(), /^hpt_[A-Za-z0-9_-]{48}$/);
  t.not(makeApiToken(), makeApiToken());
});

test("every token passes its own check", async () => {
  fc.assert(fc.property(anySecret, (secret) => isApiToken(apiTokenFromSecret(secret))));
});

test("a token with one wrong character or two swapped characters is invalid", async () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
  fc.assert(
    fc.property(
      anySecret,
      fc.integer({ min: 4, max: 51 }),
      fc.constantFrom(...letters),
      (secret, at, letter) => {
        const token = apiTokenFromSecret(secret);
        const typed = token.slice(0, at) + letter + token.slice(at + 1);
        return isApiToken(typed) === (typed === token);
      },
    ),
  );
  fc.assert(
    fc.property(anySecret, fc.integer({ min: 4, max: 50 }), (secret, at) => {
      const token = apiTokenFromSecret(secret);
      const swapped = token.slice(0, at) + token.charAt(at + 1) + token.charAt(at) + token.slice(at + 2);
      return isApiToken(swapped) === (swapped === token);
    }),
  );
});

test("no other text is a token", async () => {
  fc.assert(fc.property(fc.string(), (text) => !isApiToken(text) && !isApiToken(`hpt_${text}`)));
});
