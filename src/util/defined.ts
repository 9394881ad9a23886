type Defined<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }

/** The fields without those that are `undefined`, for types that distinguish absent from undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
}
