/** A bucket on a server that speaks S3, with the files of the contract in it. */
import {
  type ChecksumAlgorithm,
  CreateBucketCommand,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import { ConfigProvider, Layer } from "effect"
import { documentFiles } from "@data-import/domain/testing/DocumentsContract"
import * as AuditHeads from "../src/AuditHeads.ts"
import { layer } from "../src/DocumentStore.ts"

const bucket = "documents"

/** Sets the credentials where the standard chain looks first. */
export const signAs = (accessKey: string, secret: string): void => {
  process.env["AWS_ACCESS_KEY_ID"] = accessKey
  process.env["AWS_SECRET_ACCESS_KEY"] = secret
}

/** The document store of a service whose settings name this server. */
export const storeAt = (endpoint: string, more: Readonly<Record<string, string>> = {}) =>
  Layer.provide(layer, settingsFor(endpoint, more))

/** The store of audit heads with the same settings. */
export const auditHeadsAt = (endpoint: string) =>
  Layer.provide(AuditHeads.layer, settingsFor(endpoint))

const settingsFor = (endpoint: string, more: Readonly<Record<string, string>> = {}) =>
  ConfigProvider.layer(
    ConfigProvider.fromUnknown({ S3_BUCKET: bucket, S3_ENDPOINT: endpoint, ...more })
  )

/** Makes the bucket and puts the files into it, with a checksum if the server stores one. */
export const fill = async (endpoint: string, checksum?: ChecksumAlgorithm): Promise<void> => {
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED"
  })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  for (const [Key, content] of documentFiles) {
    const Body = Buffer.from(content)
    const object = { Bucket: bucket, Key, Body, ChecksumAlgorithm: checksum }
    await client.send(new PutObjectCommand(object))
  }
  client.destroy()
}
