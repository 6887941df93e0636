/** The storage of a service: the ports that it needs, on the database that the environment names. */
import { Layer } from "effect"
import * as Database from "./connection/Database.ts"

/** The ports, their database and its clock. Programs on this layer read the database's time. */
export const of = <Ports, E>(ports: Layer.Layer<Ports, E, Database.Database>) =>
  ports.pipe(Layer.provideMerge(Database.layerClock), Layer.provideMerge(Database.layer))
