import { Route } from "wouter-preact";
import { DomainList } from "./domain-list.tsx";
import { DomainResource } from "./domain-resource.tsx";

/** The page of a domain that has none of its own: its resources in one list, or one of them. */
export function DomainPage({ domain }: { readonly domain: string }) {
  return (
    <Route path="/*">
      {({ "*": name = "" }) =>
        name === "" ? (
          <DomainList domain={domain} />
        ) : (
          <DomainResource domain={domain} name={name} key={name} />
        )
      }
    </Route>
  );
}
