import { DomainNotice } from "../../parts/domain-notice.tsx";
import { RunningOperations } from "../../parts/operation-list.tsx";
import { Inventory } from "./inventory.tsx";
import { StoragePoolCard } from "./storage-pool.tsx";

/** The machines that can be brought up and taken down here, the storage they share, and what is under way with both. */
export function Hypervisors() {
  return (
    <>
      <h1>Hypervisors</h1>
      <DomainNotice domain="hypervisors" />
      <RunningOperations kinds={["hypervisors", "storagePool"]} />
      <Inventory />
      <StoragePoolCard />
    </>
  );
}
