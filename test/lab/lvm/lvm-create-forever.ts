// Creates volumes until it is killed: `node lvm-create-forever.ts <group> <system dir> <activation> <prefix>`. Prints the name of
// each volume after its creation.
import { createLvm } from "../../../adapters/lvm/lvm.ts";

const [volumeGroupName = "", systemDir = "", activation, prefix = ""] = process.argv.slice(2);
const lvm = createLvm({ systemDir, activation: activation === "auto" ? "auto" : "none" });

for (let index = 0; ; index += 1) {
  const name = `${prefix}${index}`;
  await lvm.run({ kind: "create", volumeGroupName, name, sizeBytes: 1n, tags: [] });
  process.stdout.write(`${name}\n`);
}
