import { test } from "tap";
import { pages, readPage } from "./markdown.ts";

/** A command that installs or runs a package, up to the end of the command. */
const install =
  /\b(?:npm (?:install|i|add|exec|create|init)|npx|yarn (?:add|dlx)|pnpm (?:add|dlx)|bun add|pip install|docker pull|podman pull|cargo install|apt-get install|apt install)\b([^\n`;&|]*)/g;

/** A word of a command that is looked up in a registry as ours: a name, not a path. */
const ownName = /(?:^|\s)(?:[\w.-]+\/)?@?hostplane(?:[-/:@][\w.*/-]*)?(?=\s|$)/;

function registryInstalls(text: string): string[] {
  return [...text.matchAll(install)].flatMap(([command, args = ""]) =>
    ownName.test(args.replaceAll(/(?:^|\s)(?:\.{1,2}|~)?\/\S+/g, " ")) ? command : [],
  );
}

test("no page installs hostplane from a registry, where the name belongs to others", async (t) => {
  let count = 0;
  for (const page of pages()) {
    const text = readPage(page);
    count += [...text.matchAll(install)].length;
    t.same(registryInstalls(text), [], page);
  }
  t.ok(count > 5, `${count} commands`);
});

test("the check finds names of registries, and allows files", async (t) => {
  for (const command of [
    "npm install hostplane",
    "npm install --global hostplane@0.1.0",
    "npx hostplane serve",
    "npm i hostplane-client",
    "npm install @hostplane/client",
    "docker pull hostplane:latest",
    "apt-get install hostplane",
  ]) {
    t.same(registryInstalls(command), [command]);
  }
  for (const command of [
    "npm install ../hostplane/dist/packages/hostplane-client-*.tgz",
    "apt-get install ./hostplane_*_amd64.deb",
    "npm install --global ./hostplane-gateway-0.1.0.tgz",
    "npm install @connectrpc/connect",
  ]) {
    t.same(registryInstalls(command), []);
  }
});
