import fc from "fast-check";
import { test } from "tap";
import { publicInfo, semanticVersionFrom } from "../../../../../server/domains/pods/public/public-info.ts";

test("the runtime's information has constants in rkt's own fields", async (t) => {
  const info = publicInfo({
    name: "Podman",
    version: "4.3.1",
    storeDirectory: "/store",
    configDirectory: "/etc",
  });
  t.match(info, {
    rktVersion: "4.3.1",
    appcVersion: "0.8.11",
    apiVersion: "1.0.0-alpha",
    globalFlags: {
      dir: "/store",
      systemConfigDir: "/etc",
      localConfigDir: "",
      userConfigDir: "",
      insecureFlags: "none",
      trustKeysFromHttps: false,
    },
  });
});

test("versions are converted to Semantic Versioning", async (t) => {
  for (const [version, semantic] of [
    ["4.3.1", "4.3.1"],
    ["0.0.0-sandbox", "0.0.0-sandbox"],
    ["5.0.0-rc1", "5.0.0-rc1"],
    ["5.4.2+ds1-2", "5.4.2+ds1-2"],
    ["v4.9.4-rhel", "4.9.4-rhel"],
    ["5.2", "5.2.0"],
    ["5", "5.0.0"],
    ["5.2.1~beta", "5.2.1"],
    ["05.2.1", "5.2.1"],
    ["dev", "0.0.0"],
  ] as const) {
    t.equal(semanticVersionFrom(version), semantic, version);
  }
  fc.assert(
    fc.property(fc.string(), (version) =>
      /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?$/.test(semanticVersionFrom(version)),
    ),
  );
});
