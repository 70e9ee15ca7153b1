import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { Badge } from "../../parts/badge.tsx";
import { Sentence } from "../../parts/text/sentence.tsx";
import { domainHealthText, isAnswering, isServed } from "./backend-health.ts";

/** A domain's name, linked to its page, its health and its figures; or what to configure if it is off. */
export function DomainCard(props: {
  readonly title: string;
  readonly path: string;
  readonly domain: string;
  /** Systems of all domains. */
  readonly backends: readonly Backend[];
  /** Rendered only if the domain responds. */
  readonly children: () => ComponentChildren;
}) {
  const { title, path, domain, backends, children } = props;
  const id = useId();
  const own = backends.filter((backend) => backend.domain === domain);
  const { tone, text } = domainHealthText(own);
  const missing = [...new Set(own.flatMap((backend) => backend.missing))];
  return (
    <section class="card domain" aria-labelledby={id}>
      <div class="heading">
        <h2 id={id}>
          <Link href={path}>{title}</Link>
        </h2>
        <Badge tone={tone}>{text}</Badge>
      </div>
      {missing.map((sentence) => (
        <p key={sentence} class={own.some(isServed) ? "note warn" : "quiet"}>
          <Sentence text={sentence} />
        </p>
      ))}
      {own.some(isAnswering) && children()}
    </section>
  );
}
