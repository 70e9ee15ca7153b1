import { test } from "tap";
import { withOwnAddress } from "../../../dashboard/docs/own-address.ts";

const grpcurl = "grpcurl -plaintext \\\n  -d '{}' \\\n  $GATEWAY proto.VGService/Watch";

test("examples get the address of the page", async (t) => {
  const page = { protocol: "http:", host: "box.lan:8080" };
  t.equal(withOwnAddress("curl -s http://$GATEWAY/a.B/C", page), "curl -s http://box.lan:8080/a.B/C");
  t.match(withOwnAddress(grpcurl, page), "grpcurl -plaintext");
  t.match(withOwnAddress(grpcurl, page), "box.lan:8080 proto.VGService/Watch");
  t.equal(withOwnAddress("export GATEWAY=…   # here\nexport TOKEN=…", page), "export TOKEN=…");
});

test("over TLS the options for cleartext are gone, and grpcurl gets the default port", async (t) => {
  const page = { protocol: "https:", host: "box.lan" };
  t.equal(withOwnAddress(grpcurl, page), "grpcurl \\\n  -d '{}' \\\n  box.lan:443 proto.VGService/Watch");
  t.equal(
    withOwnAddress("buf curl --http2-prior-knowledge http://$GATEWAY/a.B/C", page),
    "buf curl https://box.lan/a.B/C",
  );
  t.match(withOwnAddress(grpcurl, { protocol: "http:", host: "[::1]" }), "[::1]:80 proto");
});
