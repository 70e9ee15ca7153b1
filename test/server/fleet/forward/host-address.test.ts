import fc from "fast-check";
import { test } from "tap";
import { type AddressedRequest, parseHostAddress } from "../../../../server/fleet/forward/host-address.ts";
import { thrownReasonOf } from "./thrown-reason.ts";

const method = "/proto.VGService/GetLVList";

const addressOf = (request: Partial<AddressedRequest>) =>
  parseHostAddress({ url: method, hostHeader: undefined, listenerHost: undefined, ...request });

const reasonFor = (request: Partial<AddressedRequest>) => thrownReasonOf(() => addressOf(request));

test("a path, a header or a listener names the host", async (t) => {
  t.same(addressOf({}), { host: undefined, isNamedByRequest: false, url: method });
  t.same(addressOf({ listenerHost: "node-1" }), { host: "node-1", isNamedByRequest: false, url: method });
  const named = { host: "node-1", isNamedByRequest: true, url: method };
  t.same(addressOf({ hostHeader: "node-1" }), named);
  t.same(addressOf({ url: `/hosts/node-1${method}` }), named);
  t.same(addressOf({ url: `/hosts/node-1${method}`, hostHeader: "node-1", listenerHost: "node-1" }), named);
});

test("the query and everything below the name of the host stay as sent", async (t) => {
  t.equal(
    addressOf({ url: "/hosts/a/api/v1/x%2Fy?name=%2Fhosts%2Fb&q=a?b" }).url,
    "/api/v1/x%2Fy?name=%2Fhosts%2Fb&q=a?b",
  );
  t.equal(addressOf({ url: "/hosts/a" }).url, "/");
  t.equal(addressOf({ url: "/hosts/a/" }).url, "/");
  t.equal(addressOf({ url: "/hosts/a?x=/../" }).url, "/?x=/../");
  t.equal(addressOf({ url: "/hosts" }).host, undefined, "a path of the hub");
});

test("a call that names two hosts, or none where a name belongs, is refused", async (t) => {
  for (const request of [
    { url: `/hosts/a${method}`, hostHeader: "b" },
    { url: `/hosts/a${method}`, listenerHost: "b" },
    { hostHeader: "a", listenerHost: "b" },
    { hostHeader: "a, a" },
    { hostHeader: "a,b" },
    { hostHeader: "" },
    { hostHeader: "A" },
    { hostHeader: "a b" },
    { hostHeader: "-a" },
    { hostHeader: "a".repeat(64) },
    ...["", "..", ".", "%2e%2e", "a%2fb", "a%2Fb", "A", "a,a", "a.b", "ä", "%61"].map((name) => ({
      url: `/hosts/${name}${method}`,
    })),
    ...["/..", "/../b", "/%2e%2E/b", "/.%2e/b", "/x/./y", "/hosts/b/x"].map((rest) => ({
      url: `/hosts/a${rest}`,
    })),
    { url: "/hosts/" },
    { url: "/hosts/?x" },
  ]) {
    t.equal(reasonFor(request), "HOST_NAME_INVALID", JSON.stringify(request));
  }
});

test("whatever is sent, the host is a name that was sent, or the request is refused", async () => {
  const name = fc.oneof(
    fc.constantFrom("a", "node-1", "..", "", "A", "a,b", "%2e", "a%2Fb"),
    fc.string({ maxLength: 70 }),
  );
  const optionalName = fc.option(name, { nil: undefined });
  const request = fc.record({
    pathHost: optionalName,
    rest: fc.oneof(fc.string(), fc.constantFrom(method, "", "/..", "?a/b", "/hosts/b/x")),
    hostHeader: optionalName,
    listenerHost: fc.constantFrom(undefined, "a", "node-1"),
  });
  fc.assert(
    fc.property(request, ({ pathHost, rest, hostHeader, listenerHost }) => {
      const url = pathHost === undefined ? `/${rest}` : `/hosts/${pathHost}${rest}`;
      const refused = reasonFor({ url, hostHeader, listenerHost });
      if (refused !== undefined) {
        return refused === "HOST_NAME_INVALID";
      }
      const address = addressOf({ url, hostHeader, listenerHost });
      const isInPath = url.startsWith("/hosts/");
      const isName = address.host === undefined || /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(address.host);
      const isEveryName = [hostHeader, listenerHost].every(
        (one) => one === undefined || one === address.host,
      );
      const isWhole = isInPath
        ? [url, `${url}/`, url.replace("?", "/?")].includes(`/hosts/${address.host}${address.url}`)
        : address.url === url;
      return isName && isEveryName && isWhole && address.url.startsWith("/");
    }),
    { numRuns: 2000 },
  );
});
