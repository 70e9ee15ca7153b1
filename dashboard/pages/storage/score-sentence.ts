/** What the reasons of a score that are only a name and a figure mean, by their name. */
const meanings: Readonly<Record<string, (figure: string) => string>> = {
  flaps: (figure) => (figure === "1" ? "an OSD went down once" : `OSDs went down ${figure} times`),
  crashes: (figure) => (figure === "1" ? "1 daemon crash" : `${figure} daemon crashes`),
  slow_operations: (figure) => `up to ${figure} slow operations`,
  recovering: (figure) => `up to ${figure.replace("%", " %")} of the data in recovery`,
  scrub: (figure) => `oldest scrub ${daysText(figure)} ago`,
  deep_scrub: (figure) => `oldest deep scrub ${daysText(figure)} ago`,
};

/** Writes the reasons of a score for people: "flaps=1 -10, crashes=2 -20" as "an OSD went down once (−10), 2 daemon crashes (−20)". */
export function scoreSentence(reasons: string): string {
  return reasons
    .split(", ")
    .map((reason) => {
      const [, what = reason, points] = /^(.*) -([\d.]+)$/.exec(reason) ?? [];
      const [, name = "", figure = ""] = /^(\w+)=(\S+)$/.exec(what) ?? [];
      const text = meanings[name]?.(figure) ?? what.replaceAll(/(\w)=(\w)/g, "$1 $2");
      return points === undefined ? text : `${text} (−${points})`;
    })
    .join(", ");
}

function daysText(figure: string): string {
  return `${figure.replace(/d$/, "")} days`;
}
