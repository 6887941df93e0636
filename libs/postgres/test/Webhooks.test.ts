import { webhooksContract } from "@data-import/domain/testing/WebhooksContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

webhooksContract("in PostgreSQL", TestDatabase.deployed)
