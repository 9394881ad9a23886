import { InvalidValue } from '../../stream/errors.ts'
import { objectOf, type Read, required, whole } from '../../stream/values.ts'
import { shardOf } from './quota.ts'

const MOST_PARTITIONS = 1_024

/**
 * A fixed part of the streams: those whose names hash to `index`. One stream is then always worked on by the same process.
 * It is an optimisation only, since leases and claims protect streams in any case.
 */
export interface Partition {
  /** From 0. */
  readonly index: number
  /** Number of partitions, 1 to 1 024; the same for all processes that share the streams. */
  readonly count: number
}

export function isInPartition(stream: string, { index, count }: Partition): boolean {
  return shardOf(stream, count) === index
}

/** Reads `3/8`. @throws InvalidValue */
export function parsePartition(text: string): Partition {
  const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []
  if (index === undefined || count === undefined) {
    throw new InvalidValue(`${JSON.stringify(text)} is not a partition`, { hint: '0/4 to 3/4 are four partitions' })
  }
  return checkPartition({ index: Number(index), count: Number(count) })
}

/**
 * The partition of a host: the last number in the first label of its name, as in `pod-3` and `pod-3.svc.cluster.local`.
 * @throws InvalidValue if there is none, or it is too large
 */
export function partitionOfHost(host: string, count: number): Partition {
  const [, index] = /(\d{1,9})\D*$/.exec(host.split('.', 1)[0] ?? '') ?? []
  if (index === undefined) {
    throw new InvalidValue(`the host name ${JSON.stringify(host)} has no number`, { hint: 'web-3 is partition 3' })
  }
  if (Number(index) < count) return checkPartition({ index: Number(index), count })
  throw new InvalidValue(`the host name ${JSON.stringify(host)} is partition ${index}, but ${numbered(count)}`)
}

/** Reads the partition that a program gives. */
export const readPartition: Read<Partition> = (given, field) => {
  const partition = objectOf<Partition>({
    index: required(whole(0, MOST_PARTITIONS - 1)),
    count: required(whole(1, MOST_PARTITIONS)),
  })(given, field)
  return checkPartition(partition)
}

/** @throws InvalidValue */
function checkPartition({ index, count }: Partition): Partition {
  if (count < 1 || count > MOST_PARTITIONS) {
    throw new InvalidValue(`the number of partitions is from 1 to ${MOST_PARTITIONS}, not ${count}`)
  }
  if (index < count) return { index, count }
  throw new InvalidValue(`there is no partition ${index}/${count}: ${numbered(count)}`)
}

function numbered(count: number): string {
  return count === 1 ? 'there is only partition 0' : `partitions are numbered from 0 to ${count - 1}`
}
