import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";

test("behind a proxy that terminates TLS a browser gets a cookie for TLS only, and has none after Logout", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const ofProxy = url.replace("http:", "https:");
  const post = (method: string, headers: Readonly<Record<string, string>>, message: object = {}) =>
    fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(message),
    });
  const cookieFor = async (origin: string) => {
    const admin = { username: "admin", password: adminPassword };
    const wish = { "hostplane-session": "cookie", origin };
    const response = await post("services.auth.AuthService/Login", wish, admin);
    t.equal(response.headers.getSetCookie().length, 1);
    return response.headers.getSetCookie()[0]?.split(";") ?? [];
  };
  const [secure = "", ...attributes] = await cookieFor(ofProxy);
  t.match(secure, /^__Host-hostplane_session=./);
  t.ok(attributes.includes(" Secure"));
  const [plain = ""] = await cookieFor(url);
  t.match(plain, /^hostplane_session=./);

  const both = { cookie: `${plain}; ${secure}`, origin: ofProxy };
  t.equal((await post("hostplane.v1.UserService/GetCaller", both)).status, 200);
  const out = await post("services.auth.AuthService/Logout", both);
  t.same(
    out.headers.getSetCookie().map((line) => line.split(";")[0]),
    ["hostplane_session=", "__Host-hostplane_session="],
  );
});
