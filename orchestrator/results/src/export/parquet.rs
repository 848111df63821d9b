//! Exports the table as Apache Parquet: one row group, a column chunk for each column.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::columns::{COLUMNS, Column, Row, Values};

pub(super) fn write(rows: &[Row<'_>], out: &mut (impl Write + Send)) -> io::Result<()> {
    write_table(rows, out).map_err(|error| match error {
        ParquetError::External(source) => io::Error::other(source),
        error => io::Error::other(error),
    })
}

fn write_table(rows: &[Row<'_>], out: &mut (impl Write + Send)) -> Result<(), ParquetError> {
    let fields =
        COLUMNS.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("episode").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("sandbox {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in COLUMNS {
        let Some(mut chunk) = group.next_column()? else { break };
        fill(&mut chunk, rows, &column.values)?;
        chunk.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

/// The declaration of a column.
fn field(column: &Column) -> Result<Type, ParquetError> {
    let plain = |physical, repetition| {
        Type::primitive_type_builder(column.name, physical).with_repetition(repetition)
    };
    match column.values {
        Values::Text(_) => text(column.name, Repetition::OPTIONAL),
        Values::Whole(_) => plain(Physical::INT64, Repetition::OPTIONAL).build(),
        Values::Fraction(_) => plain(Physical::DOUBLE, Repetition::OPTIONAL).build(),
        Values::Truth(_) => plain(Physical::BOOLEAN, Repetition::REQUIRED).build(),
        Values::Time(_) => {
            let kind = LogicalType::timestamp(true, TimeUnit::MILLIS);
            plain(Physical::INT64, Repetition::REQUIRED).with_logical_type(Some(kind)).build()
        }
        Values::List(_) => {
            // Three levels of these names, as Parquet's specification of lists has them. Readers
            // take any other shape for a struct.
            let items = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(text("element", Repetition::REQUIRED)?)])
                .build()?;
            Type::group_type_builder(column.name)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::List))
                .with_converted_type(ConvertedType::LIST)
                .with_fields(vec![Arc::new(items)])
                .build()
        }
    }
}

fn text(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::String))
        .with_converted_type(ConvertedType::UTF8)
        .build()
}

fn fill(
    chunk: &mut SerializedColumnWriter<'_>,
    rows: &[Row<'_>],
    values: &Values,
) -> Result<(), ParquetError> {
    match values {
        Values::Text(of) => optional::<ByteArrayType>(
            chunk,
            rows.iter().map(|row| of(row).map(|text| bytes(&text))),
        ),
        Values::Whole(of) => {
            // A value that does not fit is no real count.
            let signed = |number| i64::try_from(number).unwrap_or(i64::MAX);
            optional::<Int64Type>(chunk, rows.iter().map(|row| of(row).map(signed)))
        }
        Values::Fraction(of) => optional::<DoubleType>(chunk, rows.iter().map(of)),
        Values::Truth(of) => {
            let values: Vec<bool> = rows.iter().map(of).collect();
            chunk.typed::<BoolType>().write_batch(&values, None, None).map(drop)
        }
        Values::Time(of) => {
            let values: Vec<i64> = rows.iter().map(|row| of(row).as_millisecond()).collect();
            chunk.typed::<Int64Type>().write_batch(&values, None, None).map(drop)
        }
        Values::List(of) => lists(chunk, rows.iter().map(of)),
    }
}

/// Writes optional values. Absent ones have definition level 0.
fn optional<T: DataType>(
    chunk: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    chunk.typed::<T>().write_batch(&there, Some(&levels), None).map(drop)
}

/// Writes lists. An empty list has definition level 0; items after the first have repetition level
/// 1.
fn lists(
    chunk: &mut SerializedColumnWriter<'_>,
    lists: impl Iterator<Item = Vec<String>>,
) -> Result<(), ParquetError> {
    let (mut items, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        if list.is_empty() {
            defined.push(0);
            repeated.push(0);
        }
        for (place, item) in list.iter().enumerate() {
            items.push(bytes(item));
            defined.push(1);
            repeated.push(i16::from(place > 0));
        }
    }
    chunk.typed::<ByteArrayType>().write_batch(&items, Some(&defined), Some(&repeated)).map(drop)
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}
