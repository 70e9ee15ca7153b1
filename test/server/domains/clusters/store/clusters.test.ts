import { test } from "tap";
import { testClusterContract } from "./clusters-contract.ts";
import { testClusterPassContract } from "./passes-contract.ts";
import { testClusterSlotContract } from "./slots-contract.ts";
import { testClusterStrayContract } from "./strays-contract.ts";

const makeOptions = async () => ({});

test("SQLite fulfills the contract for specs of clusters", async (t) => testClusterContract(t, makeOptions));

test("SQLite fulfills the contract for reconciliation passes", async (t) =>
  testClusterPassContract(t, makeOptions));

test("SQLite fulfills the contract for the machines of clusters", async (t) =>
  testClusterSlotContract(t, makeOptions));

test("SQLite fulfills the contract for machines without a slot", async (t) =>
  testClusterStrayContract(t, makeOptions));
