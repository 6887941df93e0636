/**
 * Puts a document at each given key into the bucket of the service in whose container it runs, with
 * that service's settings. Plain JavaScript, because it is passed to Node as text.
 */
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"

const { S3_BUCKET: Bucket, S3_ENDPOINT: endpoint } = process.env
const client = new S3Client({
  endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED"
})
for (const Key of process.argv.slice(2)) {
  await client.send(new PutObjectCommand({ Bucket, Key, Body: `%PDF-1.4 ${Key}` }))
}
