/**
 * Returns the environment of a tool: PATH, HOME and LC_ALL=C, and the given variables. Tools such as LVM live in sbin
 * directories, which a user's PATH often lacks.
 */
export function environmentOf(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH, HOME } = process.env;
  const directories = new Set((PATH ?? "/usr/local/bin:/usr/bin:/bin").split(":"));
  for (const directory of ["/usr/local/sbin", "/usr/sbin", "/sbin"]) {
    directories.add(directory);
  }
  return {
    PATH: [...directories].join(":"),
    ...(HOME === undefined ? {} : { HOME }),
    ...extra,
    LC_ALL: "C",
  };
}
