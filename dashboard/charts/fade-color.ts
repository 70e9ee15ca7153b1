/** Returns the colour with another opacity, from 0 to 1. Returns it unchanged if the browser does not write colours as rgb(). */
export function fadeColor(color: string, opacity: number): string {
  const channels = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color);
  return channels === null ? color : `rgb(${channels.slice(1).join(" ")} / ${opacity})`;
}
