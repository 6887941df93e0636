/**
 * Markers of suppliers in PostgreSQL: a sum of hashes of the rows that say where each supplier
 * stands. Of the totals by cohort, those of states suffice to notice an import that has changed its
 * cohort. The differences are left out: they are folded into the totals within a second, so each
 * change would be reported twice. The outcome of a rehearsal is counted some seconds after the
 * imports that it is about, so what is still to be counted of it is a part of the marker.
 */
import { Effect, Layer, Schema } from "effect"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { SupplierChanges } from "@data-import/domain/migrations/SupplierChanges"
import { Database, rowsOf } from "../connection/Database.ts"

const markerRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    organisation: OrganisationName,
    marker: Schema.String
  })
)

export const layer: Layer.Layer<SupplierChanges, never, Database> = Layer.effect(
  SupplierChanges,
  Effect.map(Database, ({ run, sql }) =>
    SupplierChanges.of({
      markers: run(
        markerRows(sql`
          select code as supplier, organisation,
            concat_ws(' ', status, totals.digest, unfinished.digest, certifying.digest,
              counting.digest,
              (select max(number) from comments where comments.supplier = code)) as marker
          from suppliers
          join organisations on organisations.name = suppliers.organisation and test_of is null
          left join (
            select supplier, sum(hashtextextended(
              concat_ws(' ', cohort, kind, name, count, amount), 0)) as digest
            from import_totals
            where kind <> 'imported' and (cohort = '' or kind = 'state')
            group by supplier
          ) as totals on totals.supplier = code
          left join (
            select supplier, sum(hashtextextended(
              concat_ws(' ', id, started_at, is_cancelled, paused_by, waiting_for, received,
                succeeded, already, failed, cancelled), 0)) as digest
            from batches where finished_at is null
            group by supplier
          ) as unfinished on unfinished.supplier = code
          left join (
            select supplier, sum(hashtextextended(concat_ws(' ', id, done), 0)) as digest
            from certificates left join certificate_progress on certificate = id
            where status = 'RUNNING'
            group by supplier
          ) as certifying on certifying.supplier = code
          left join (
            select followed.supplier, sum(hashtextextended(
              concat_ws(' ', batch, first_line, stale_since), 0)) as digest
            from followed_rehearsals as followed join rehearsal_counts using (batch)
            where followed_until is null and stale_since is not null
            group by followed.supplier
          ) as counting on counting.supplier = code`)
      )
    })
  )
)
