/** Returns "app=web" for each label, and "app" for one without a value. */
export function labelTexts(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels).map(([name, value]) => (value === "" ? name : `${name}=${value}`));
}
