import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./build-command.ts";
import { writeChecksums } from "./checksums.ts";
import { packClient } from "./client-package.ts";
import { buildDebianPackage } from "./debian-package.ts";
import { stageGateway } from "./gateway-files.ts";
import { findEngine, saveImage } from "./image.ts";
import { readManifest } from "./manifest.ts";
import { packDirectory } from "./pack-directory.ts";
import { readBuildTime } from "./source-date.ts";
import { readBill, writeBills } from "./write-bills.ts";

// `npm run package` builds the packages of a release from dist/: tarball, Debian package, client, image, bills of materials and
// checksums. The same commit gives the same bytes, except for the image.

const usage = `usage: npm run package -- [--out DIRECTORY] [--image ENGINE] [--release VERSION]

  --out DIRECTORY    where the packages are written (default: dist/packages)
  --image ENGINE     docker, podman or the path of one, which builds the image; none: no image (default: the first one found)
  --release VERSION  version of the packages (default: that of package.json)
`;

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "dist/packages") },
    image: { type: "string" },
    release: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
} else {
  await buildPackages(resolve(values.out), values.image ?? findEngine(), values.release);
}

async function buildPackages(out: string, engine: string, release: string | undefined): Promise<void> {
  const manifest = { ...readManifest(), ...(release === undefined ? {} : { version: release }) };
  const builtAt = await readBuildTime();
  const work = await mkdtemp(join(tmpdir(), "hostplane-package-"));
  try {
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    const bill = await readBill();
    const gateway = join(work, "gateway");
    await stageGateway({ directory: gateway, manifest, bill });
    const files = [
      await packDirectory(gateway, out),
      await packClient({ directory: join(work, "client"), out, manifest, builtAt }),
      await buildDebianPackage({ directory: join(work, "debian"), gateway, out, manifest, builtAt }),
      ...(engine === "none" ? [] : [await saveImage({ engine, out, manifest })]),
      ...(await writeBills({ out, manifest, bill, builtAt })),
    ];
    await writeChecksums(out, files);
    process.stdout.write(`${[...files, "SHA256SUMS"].map((file) => join(out, file)).join("\n")}\n`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
