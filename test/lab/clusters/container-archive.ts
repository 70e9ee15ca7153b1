import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

export interface ContainerImage {
  /** Name with a tag. Without a registry, containerd takes it as one of docker.io. */
  readonly name: string;
  /** Directories, lowest first; in the image their files belong to root. */
  readonly layers: readonly string[];
  readonly entrypoint: readonly string[];
}

/** Writes an image in the format of `docker save`, for linux/amd64; `ctr images import` can read it. */
export async function writeContainerArchive(file: string, image: ContainerImage): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const work = await mkdtemp(`${file}.`);
  try {
    const layers = image.layers.map((_, index) => `layer-${index}.tar`);
    const ids: string[] = [];
    for (const [index, directory] of image.layers.entries()) {
      ids.push(await writeLayer(directory, join(work, layers[index] ?? "")));
    }
    const config = {
      architecture: "amd64",
      os: "linux",
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        Entrypoint: image.entrypoint,
      },
      rootfs: { type: "layers", diff_ids: ids },
    };
    await writeFile(join(work, "config.json"), JSON.stringify(config));
    const manifest = [{ Config: "config.json", RepoTags: [image.name], Layers: layers }];
    await writeFile(join(work, "manifest.json"), JSON.stringify(manifest));
    const archive = join(work, "archive.tar");
    await execute("tar", ["-cf", archive, "-C", work, "manifest.json", "config.json", ...layers]);
    await rename(archive, file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Writes a layer, and returns its id. */
async function writeLayer(directory: string, file: string): Promise<string> {
  const reproducible = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  await execute("tar", [...reproducible, "-cf", file, "-C", directory, "."]);
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return `sha256:${hash.digest("hex")}`;
}
