/** The contract of every storage port, run on PostgreSQL as it is deployed. */
import { tokenBucketsContract } from "@data-import/domain/testing/TokenBucketsContract"
import { apiKeysContract } from "@data-import/domain/testing/ApiKeysContract"
import { auditLogContract } from "@data-import/domain/testing/AuditLogContract"
import { importProcessesContract } from "@data-import/domain/testing/ImportProcessesContract"
import { configurationContract } from "@data-import/domain/testing/ConfigurationContract"
import { auditSearchContract } from "@data-import/domain/testing/AuditSearchContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = TestDatabase.deployedWithTeam

importProcessesContract("in PostgreSQL", storage)
auditLogContract("in PostgreSQL", storage)
configurationContract("in PostgreSQL", storage)
tokenBucketsContract("in PostgreSQL", storage)
apiKeysContract("in PostgreSQL", storage)
auditSearchContract("in PostgreSQL", storage)
