import { test } from "tap";
import { createLoginLinks } from "../../../../../server/domains/auth/sessions/login-links.ts";

test("a code starts one session of its user", async (t) => {
  const begun: string[] = [];
  const links = createLoginLinks(async (name) => {
    begun.push(name);
    return { token: `token of ${name}`, accountId: name, expiresAtMs: 0 };
  });
  const [code, other] = [links.create("admin"), links.create("alice")];
  t.match(code, /^[\w-]{24}$/);
  t.not(code, other);
  t.equal(await links.redeem("guessed"), undefined);
  // Of two requests at once only one gets the session.
  const sessions = await Promise.all([links.redeem(code), links.redeem(code)]);
  t.match(sessions, [{ token: "token of admin" }, undefined]);
  t.match(await links.redeem(other), { token: "token of alice" });
  t.same(begun, ["admin", "alice"]);
});
