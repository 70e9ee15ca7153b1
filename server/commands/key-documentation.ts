import type { ConfigKey } from "../config/keys.ts";

/** Formats the keys for a terminal: each with its type and default, its description, and its other names. */
export function textFromKeys(keys: readonly ConfigKey[]): string {
  return keys
    .map((key) => {
      const names =
        key.variable === undefined ? [] : [`    ${[key.variable, key.flag].filter(Boolean).join("   ")}`];
      return [
        `${key.path}  (${[key.type, defaultOf(key)].join(", ")})`,
        `    ${key.description}`,
        ...names,
      ].join("\n");
    })
    .join("\n\n");
}

const introduction = `# Configuration

<!-- Made by \`hostplane config schema --markdown\`; edit server/config/schema.ts instead. -->

A key is taken from the first of these that has it: a flag, an environment variable, the YAML file named by
\`--config FILE\` or \`HOSTPLANE_CONFIG\`, the default. A list replaces a list as a whole. An unknown key, variable or
flag is an error, and so is a key given twice; \`hostplane config check --config FILE\` reports every mistake with its
line. Paths are relative to the directory the gateway is started in.

In a variable or after \`--set\`, entries of a list of text are separated by commas, and a list of groups is written
as in YAML: \`--set 'volumes.deviceClasses=[{name: ssd, volumeGroup: vg0, default: true}]'\`. For \`listen\` the
addresses alone will do: \`HOSTPLANE_LISTEN=127.0.0.1:8080,unix:/run/hostplane.sock\`. An empty variable counts as
absent.

\`\`\`yaml
listen:
  - address: 127.0.0.1:8080
  - address: unix:/run/topolvm/lvmd.sock
    auth: none
    services: [proto.LVService, proto.VGService]
    role: operator
    mode: "0600"
volumes:
  deviceClasses:
    - { name: ssd, volumeGroup: vg0, default: true, spareGiB: 10 }
    - { name: thin, volumeGroup: vg1, thinPool: pool0, overprovision: 5 }
  protect: [root, "swap*"]
\`\`\`
`;

/** Formats the keys as the page docs/configuration.md. */
export function markdownFromKeys(keys: readonly ConfigKey[]): string {
  const sections = keys.map((key) => {
    const names = key.variable === undefined ? [] : [namesOf(key)];
    return [`## ${key.path}`, `${key.type}; ${defaultOf(key)}.`, key.description, ...names].join("\n\n");
  });
  return [introduction, ...sections].join("\n");
}

function namesOf({ variable, flag }: ConfigKey): string {
  return flag === undefined
    ? `Variable \`${variable}\`, no flag.`
    : `Variable \`${variable}\`, flag \`${flag}\`.`;
}

function defaultOf(key: ConfigKey): string {
  if (key.required) {
    return "required";
  }
  return key.default === undefined ? "optional" : `default ${JSON.stringify(key.default)}`;
}
