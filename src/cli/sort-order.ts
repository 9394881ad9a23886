import { UsageError } from './problem.ts'
import { choice } from './values.ts'

/** A field to sort by. */
export interface SortOrder<Field extends string> {
  readonly field: Field
  readonly descending: boolean
}

/** Reads `due`, `-due`, `due:desc` and `due:asc`. */
export function sortOrder<Field extends string>(fields: readonly Field[]): (text: string) => SortOrder<Field> {
  return text => {
    const [, minus = '', field = '', order = ''] = /^(-?)(.*?)(:asc|:desc)?$/s.exec(text) ?? []
    if (minus !== '' && order !== '') {
      throw new UsageError(`--sort ${text} gives the order twice`, { hint: `Write --sort ${field}${order}.` })
    }
    const known = choice('--sort', fields)(field)
    return { field: known as Field, descending: minus !== '' || order === ':desc' }
  }
}
