/** The contract of every storage port, run on PostgreSQL as it is deployed. */
import { Layer } from "effect"
import { tokenBucketsContract } from "@data-import/domain/testing/TokenBucketsContract"
import { apiKeysContract } from "@data-import/domain/testing/ApiKeysContract"
import { auditLogContract } from "@data-import/domain/testing/AuditLogContract"
import { forecastsContract } from "@data-import/domain/testing/ForecastsContract"
import { importProcessesContract } from "@data-import/domain/testing/ImportProcessesContract"
import { operatorAuditContract } from "@data-import/domain/testing/OperatorAuditContract"
import { checksContract } from "@data-import/domain/testing/ChecksContract"
import { configurationContract } from "@data-import/domain/testing/ConfigurationContract"
import { auditSearchContract } from "@data-import/domain/testing/AuditSearchContract"
import { importSearchContract } from "@data-import/domain/testing/ImportSearchContract"
import { migrationsContract } from "@data-import/domain/testing/MigrationsContract"
import { boardSessionsContract } from "@data-import/domain/testing/BoardSessionsContract"
import { supplierChangesContract } from "@data-import/domain/testing/SupplierChangesContract"
import { supplierSummariesContract } from "@data-import/domain/testing/SupplierSummariesContract"
import { sandboxContract } from "@data-import/domain/testing/SandboxContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(TestDatabase.layerTeam, TestDatabase.deployed)

importProcessesContract("in PostgreSQL", storage)
auditLogContract("in PostgreSQL", storage)
configurationContract("in PostgreSQL", storage)
apiKeysContract("in PostgreSQL", storage)
tokenBucketsContract("in PostgreSQL", storage)
operatorAuditContract("in PostgreSQL", storage)
supplierSummariesContract("in PostgreSQL", storage)
auditSearchContract("in PostgreSQL", storage)
importSearchContract("in PostgreSQL", storage)
migrationsContract("in PostgreSQL", storage)
forecastsContract("in PostgreSQL", storage)
boardSessionsContract("in PostgreSQL", storage)
supplierChangesContract("in PostgreSQL", storage)
sandboxContract("in PostgreSQL", storage)
checksContract("in PostgreSQL", storage)
