//! `#[derive(Pack)]` of `volee-models`: the fields of a value one after the other, of an enumeration first
//! the number of the variant.
//!
//! The code that is made reads in place: what a value has allocated already is used again. It names
//! everything by its full path, so that it means the same wherever it stands.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Generics, Ident, Index, Member, Variant, parse_quote};

/// Variants at most: their number is a byte.
const MOST_VARIANTS: usize = 256;

/// Packs a struct or an enumeration, field by field.
#[proc_macro_derive(Pack)]
pub fn pack(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implementation(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn implementation(input: &DeriveInput) -> syn::Result<Tokens> {
    let body = match &input.data {
        Data::Struct(data) => of_struct(&data.fields),
        Data::Enum(data) => of_enum(&input.ident, data)?,
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "what a union holds is not known")),
    };
    let name = &input.ident;
    let generics = with_bounds(input.generics.clone());
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::volee_models::Pack for #name #type_generics #where_clause { #body }
    })
}

fn with_bounds(mut generics: Generics) -> Generics {
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::volee_models::Pack));
    }
    generics
}

/// The names by which the fields are reached: `count`, or `0`.
fn members(fields: &Fields) -> Vec<Member> {
    let named = |(number, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(number)),
    };
    fields.iter().enumerate().map(named).collect()
}

fn of_struct(fields: &Fields) -> Tokens {
    let members = members(fields);
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let variables = match fields {
        Fields::Named(_) => {
            let names: Vec<String> = fields.iter().filter_map(|f| f.ident.as_ref()).map(plain_name).collect();
            quote! {
                #(::volee_models::Pack::variables(&self.#members, &::volee_models::below(name, #names), all);)*
            }
        }
        // What has no names of its own is shown as it prints itself.
        _ => quote! { ::volee_models::shown(self, name, all); },
    };
    let composite = matches!(fields, Fields::Named(_));
    quote! {
        const WIDTH: ::core::option::Option<usize> =
            ::volee_models::sum_of_widths(&[#(<#types as ::volee_models::Pack>::WIDTH),*]);
        const COMPOSITE: bool = #composite;
        #[inline]
        fn put<'a>(&self, place: &'a mut [u8]) -> ::core::option::Option<&'a mut [u8]> {
            #(let place = ::volee_models::Pack::put(&self.#members, place)?;)*
            ::core::option::Option::Some(place)
        }
        #[inline]
        fn assign(&mut self, from: &Self) {
            #(::volee_models::Pack::assign(&mut self.#members, &from.#members);)*
        }
        #[inline]
        fn unpack(&mut self, bytes: &mut &[u8]) -> ::core::option::Option<()> {
            #(::volee_models::Pack::unpack(&mut self.#members, bytes)?;)*
            ::core::option::Option::Some(())
        }
        fn unpacked(bytes: &mut &[u8]) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self { #(#members: ::volee_models::Pack::unpacked(bytes)?),* })
        }
        fn width(&self) -> ::core::option::Option<usize> {
            ::volee_models::sum_of_widths(&[#(::volee_models::Pack::width(&self.#members)),*])
        }
        fn fields(&self, widths: &mut ::std::vec::Vec<::core::option::Option<usize>>) {
            #(::volee_models::Pack::fields(&self.#members, widths);)*
        }
        fn watch(&mut self, rows: &mut u32, on: bool) {
            #(::volee_models::Pack::watch(&mut self.#members, rows, on);)*
        }
        fn seen(
            &self,
            rows: &mut u32,
            seen: &mut ::std::vec::Vec<bool>,
        ) -> ::core::option::Option<()> {
            #(::volee_models::Pack::seen(&self.#members, rows, seen)?;)*
            ::core::option::Option::Some(())
        }
        fn variables(&self, name: &str, all: &mut ::std::vec::Vec<::volee_models::Variable>) { #variables }
    }
}

/// The name as it is shown, without the mark of a raw identifier.
fn plain_name(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_string()
}

/// A variant with names for what it holds.
struct Arm<'a> {
    variant: &'a Variant,
    tag: u8,
    members: Vec<Member>,
    bindings: Vec<Ident>,
}

impl Arm<'_> {
    fn pattern(&self) -> Tokens {
        self.pattern_with(&self.bindings)
    }

    fn pattern_with(&self, bindings: &[Ident]) -> Tokens {
        let (name, members) = (&self.variant.ident, &self.members);
        quote! { Self::#name { #(#members: #bindings),* } }
    }

    /// Other names, for what another value of the same variant holds.
    fn others(&self) -> Vec<Ident> {
        self.bindings.iter().map(|binding| format_ident!("other_{binding}")).collect()
    }

    fn width(&self) -> Tokens {
        let types = self.variant.fields.iter().map(|field| &field.ty);
        quote! { ::volee_models::sum_of_widths(&[#(<#types as ::volee_models::Pack>::WIDTH),*]) }
    }
}

fn of_enum(name: &Ident, data: &DataEnum) -> syn::Result<Tokens> {
    if data.variants.is_empty() {
        return Err(Error::new_spanned(name, "there is no value of an enumeration without variants"));
    }
    if data.variants.len() > MOST_VARIANTS {
        return Err(Error::new_spanned(name, "at most 256 variants can be packed"));
    }
    let arms: Vec<Arm<'_>> = data
        .variants
        .iter()
        .enumerate()
        .map(|(tag, variant)| Arm {
            variant,
            tag: tag as u8,
            members: members(&variant.fields),
            bindings: (0..variant.fields.len()).map(|i| format_ident!("field_{i}")).collect(),
        })
        .collect();
    let widths: Vec<Tokens> = arms.iter().map(Arm::width).collect();
    let tags = arms.iter().map(|arm| {
        let (variant, tag) = (&arm.variant.ident, arm.tag);
        quote! { Self::#variant { .. } => #tag }
    });
    let full = || arms.iter().filter(|arm| !arm.bindings.is_empty());
    let parts = full().map(|arm| {
        let (pattern, bindings) = (arm.pattern(), &arm.bindings);
        quote! { #pattern => { #(let place = ::volee_models::Pack::put(#bindings, place)?;)* ::core::option::Option::Some(place) } }
    });
    let assigned = full().map(|arm| {
        let (bindings, others) = (&arm.bindings, arm.others());
        let (pattern, from) = (arm.pattern(), arm.pattern_with(&others));
        quote! { (#pattern, #from) => { #(::volee_models::Pack::assign(#bindings, #others);)* } }
    });
    let in_place = full().map(|arm| {
        let (pattern, tag, bindings) = (arm.pattern(), arm.tag, &arm.bindings);
        quote! { (#tag, #pattern) => { #(::volee_models::Pack::unpack(#bindings, bytes)?;)* } }
    });
    let afresh = arms.iter().map(|arm| {
        let (variant, tag, members) = (&arm.variant.ident, arm.tag, &arm.members);
        quote! { #tag => Self::#variant { #(#members: ::volee_models::Pack::unpacked(bytes)?),* } }
    });
    Ok(quote! {
        const WIDTH: ::core::option::Option<usize> = ::volee_models::padded_width(&[#(#widths),*]);
        #[inline]
        fn put<'a>(&self, place: &'a mut [u8]) -> ::core::option::Option<&'a mut [u8]> {
            let tag: u8 = match self { #(#tags),* };
            ::volee_models::put_padded(place, <Self as ::volee_models::Pack>::WIDTH, tag, |place| match self {
                #(#parts)*
                #[allow(unreachable_patterns)]
                _ => ::core::option::Option::Some(place),
            })
        }
        #[inline]
        fn assign(&mut self, from: &Self) {
            #[allow(unreachable_patterns)]
            match (&mut *self, from) {
                #(#assigned)*
                _ => ::core::clone::Clone::clone_from(self, from),
            }
        }
        #[inline]
        fn unpack(&mut self, bytes: &mut &[u8]) -> ::core::option::Option<()> {
            let whole = *bytes;
            let tag = ::volee_models::byte(bytes)?;
            #[allow(unreachable_patterns)]
            match (tag, &mut *self) {
                #(#in_place)*
                _ => {
                    *bytes = whole;
                    *self = <Self as ::volee_models::Pack>::unpacked(bytes)?;
                }
            }
            ::volee_models::skip_padding(bytes, whole, <Self as ::volee_models::Pack>::WIDTH)
        }
        fn unpacked(bytes: &mut &[u8]) -> ::core::option::Option<Self> {
            let whole = *bytes;
            let value = match ::volee_models::byte(bytes)? { #(#afresh,)* _ => return ::core::option::Option::None };
            ::volee_models::skip_padding(bytes, whole, <Self as ::volee_models::Pack>::WIDTH)?;
            ::core::option::Option::Some(value)
        }
    })
}
