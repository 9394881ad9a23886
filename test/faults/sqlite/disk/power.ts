import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Change, Content } from './content.ts'
import type { Entry } from './record.ts'

/**
 * The fate of unsynced data at a power cut: all of it arrives (as when only the program dies), none, some
 * of it, whole or torn, or the sizes of files without their content.
 */
export const LOSSES = ['nothing', 'everything', 'some', 'torn', 'content'] as const
export type Loss = (typeof LOSSES)[number]

interface Inode {
  readonly durable: Content
  /** Not synced yet. */
  pending: Change[]
}

/** A name in a folder: given to a file or folder, or taken away. */
interface Naming {
  readonly path: string
  readonly what: Inode | 'folder' | undefined
}

/** A disk with a cache that loses unsynced data: files need fsync, names need fsync of their folder. */
export class CachedDisk {
  readonly #root: string
  readonly #random: () => number
  readonly #live = new Map<string, Inode | 'folder'>()
  readonly #durable = new Map<string, Inode | 'folder'>()
  #namings: Naming[] = []

  constructor(root: string, random: () => number) {
    this.#root = root
    this.#random = random
    for (const names of [this.#live, this.#durable]) names.set(root, 'folder')
  }

  apply({ kind, path, offset, data }: Entry): void {
    switch (kind) {
      case 'A':
        break
      case 'C':
        this.#name(path, { durable: new Content(), pending: [] })
        break
      case 'M':
        this.#name(path, 'folder')
        break
      case 'U':
        this.#name(path, undefined)
        break
      case 'W':
        this.#file(path).pending.push({ offset, data })
        break
      case 'T':
        this.#file(path).pending.push({ size: offset })
        break
      case 'S':
        this.#sync(path)
        break
      case 'F':
        this.#failToSync(path)
        break
      default:
        kind satisfies never
    }
  }

  /** Writes the state after a power cut at this moment. */
  cut(into: string, loss: Loss): void {
    for (const [path, what] of this.#namesAfter(loss)) {
      const target = join(into, relative(this.#root, path))
      mkdirSync(what === 'folder' ? target : dirname(target), { recursive: true })
      if (what !== 'folder') writeFileSync(target, this.#contentAfter(what, loss))
    }
  }

  #name(path: string, what: Naming['what']): void {
    if (what === undefined) this.#live.delete(path)
    else this.#live.set(path, what)
    this.#namings.push({ path, what })
  }

  #file(path: string): Inode {
    const file = this.#live.get(path)
    if (file === undefined || file === 'folder') throw new Error(`${path} was written and never created`)
    return file
  }

  #sync(path: string): void {
    if (this.#live.get(path) !== 'folder') {
      const file = this.#file(path)
      for (const change of file.pending) file.durable.apply(change)
      file.pending = []
      return
    }
    for (const naming of this.#namings) if (dirname(naming.path) === path) rename(this.#durable, naming)
    this.#namings = this.#namings.filter(naming => dirname(naming.path) !== path)
  }

  /** Pending data have arrived or are lost, finally: the system does not write them again. */
  #failToSync(path: string): void {
    if (this.#live.get(path) === 'folder') return
    const file = this.#file(path)
    for (const change of file.pending) if (this.#random() < 0.5) file.durable.apply(change)
    file.pending = []
  }

  #namesAfter(loss: Loss): ReadonlyMap<string, Inode | 'folder'> {
    const names = new Map(this.#durable)
    const share = loss === 'nothing' ? 1 : loss === 'everything' ? 0 : this.#random()
    for (const naming of this.#namings.slice(0, Math.round(share * this.#namings.length))) rename(names, naming)
    const isReached = (path: string): boolean => path === this.#root || (names.has(path) && isReached(dirname(path)))
    return new Map([...names].filter(([path]) => isReached(path)))
  }

  #contentAfter({ durable, pending }: Inode, loss: Loss): Buffer {
    const content = durable.copy()
    for (const change of pending) {
      const kept = loss === 'nothing' || (loss !== 'everything' && this.#random() < 0.5)
      if (kept && loss === 'torn') content.tear(change, this.#random)
      else if (kept) content.apply(change)
      else if (loss === 'content') content.onlySize(change)
    }
    return content.bytes
  }
}

function rename(names: Map<string, Inode | 'folder'>, { path, what }: Naming): void {
  if (what === undefined) names.delete(path)
  else names.set(path, what)
}
